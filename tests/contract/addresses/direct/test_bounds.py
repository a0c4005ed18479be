"""How much a download from storage does at once, and how much it keeps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from slipway.client.calls.answers import AddressPage, FileChunk
from slipway.client.files import output
from slipway.client.files.direct import Direct
from slipway.client.files.walk import walk
from tests.contract.addresses.direct.blobs import Storage, fetched
from tests.unit.slipway.client.wrote import Wrote

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_one_large_file_is_asked_for_in_many_parts_at_once(
    api: Wrote, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "DIRECT_CHUNK", 1)
    files = {"large": bytes(range(200))}
    api.root, storage.blobs = files, files
    api.pages = {(".", ""): storage.page("large")}
    storage.slowness = 0.002

    assert (await fetched(api, tmp_path)).saved == 1

    assert storage.most == output.PARALLEL


async def test_what_is_not_yet_written_is_bounded_for_all_files_together(
    api: Wrote, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "DIRECT_CHUNK", 1)
    files = {str(number): bytes(range(60)) for number in range(8)}
    api.root, storage.blobs = files, files
    api.pages = {(".", ""): storage.page(*files)}
    tree, bounds = await walk(api, "j_1", ["OUT"]), output.Bounds()

    async with Direct(api, "j_1") as direct:
        reads = [output.chunks(api, "j_1", file, bounds, direct=direct) for file in tree.files]
        first = await asyncio.gather(*(anext(read) for read in reads))
        while len(storage.requests) < 2 * output.PARALLEL:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        assert len(storage.requests) == 2 * output.PARALLEL  # none of them is written yet

        await reads.pop().aclose()  # what it held is free for the others
        rest = await asyncio.gather(*map(_drained, reads))
    assert [len(chunk.data) + len(more) for chunk, more in zip(first, rest, strict=False)] == [60] * 7


async def _drained(read: AsyncIterator[FileChunk]) -> bytes:
    return b"".join([chunk.data async for chunk in read])


async def test_the_next_page_is_asked_for_before_it_is_needed_where_many_files_are_wanted(
    api: Wrote, storage: Storage, tmp_path: Path
) -> None:
    files = {f"{number:03}": b"x" for number in range(120)}
    api.root, storage.blobs = files, files
    names = sorted(files)
    api.pages = {
        (".", ""): storage.page(*names[:60], following="2"),
        (".", "2"): storage.page(*names[60:], following="3"),
        (".", "3"): storage.page("119"),
    }
    began: dict[str, int] = {}
    real = api.addresses

    async def addresses(job_id: str, directory: str, path: str, after: str = "") -> AddressPage | None:
        began[after] = len(storage.requests)
        return await real(job_id, directory, path, after)

    api.addresses = addresses  # type: ignore[method-assign]
    assert (await fetched(api, tmp_path)).saved == 120

    assert began[""] == 0
    assert 0 < began["2"] < 40
    assert 50 < began["3"] < 100
