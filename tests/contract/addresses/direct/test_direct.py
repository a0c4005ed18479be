"""A download that reads storage itself, against a server that stands for storage and its failures."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web

from slipway.client.calls.answers import AddressPage, Blob
from slipway.client.files import output
from tests.contract.addresses.direct.blobs import FILES, WRITTEN, Storage, Trouble, fetched
from tests.unit.slipway.client.wrote import Wrote

pytestmark = pytest.mark.asyncio(loop_scope="session")


def answer(status: int, body: bytes = b"", **headers: str) -> Trouble:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return lambda _: web.Response(status=status, body=body, headers=named)


async def test_files_come_from_storage_and_no_key_goes_there(
    api: Wrote, storage: Storage, tmp_path: Path
) -> None:
    outcome = await fetched(api, tmp_path)

    assert (outcome.saved, len(storage.requests), api.reads) == (6, 6, [])
    headers = {name.lower() for request in storage.requests for name in request.headers}
    assert not headers & {"x-functions-key", "authorization", "cookie"}


async def test_a_large_file_comes_in_parts_that_are_of_one_version(
    api: Wrote, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "DIRECT_CHUNK", 4)
    storage.troubles = [lambda _: None] * 6

    assert (await fetched(api, tmp_path)).saved == 6

    assert len(storage.requests) == 18
    assert sum("If-Match" in request.headers for request in storage.requests) == 12


async def test_pages_are_asked_for_as_they_are_needed(api: Wrote, storage: Storage, tmp_path: Path) -> None:
    api.pages = {
        (".", ""): storage.page("a.bin", "b.bin", following="2"),
        (".", "2"): storage.page("c.bin", "d.bin", following="3"),
        (".", "3"): storage.page("e.bin", "f.bin"),
    }

    await fetched(api, tmp_path)

    assert (len(storage.requests), api.reads) == (6, [])


async def test_what_storage_does_not_have_comes_through_the_api(
    api: Wrote, storage: Storage, tmp_path: Path
) -> None:
    api.pages = {(".", ""): storage.page("b.bin", "c.bin")}

    await fetched(api, tmp_path)

    assert {path for path, _ in api.reads} == {"a.bin", "d.bin", "e.bin", "f.bin"}


@pytest.mark.parametrize("blob", [Blob(9, WRITTEN + 1, ""), Blob(10, int(WRITTEN) - 1, "")])
async def test_a_blob_that_is_older_than_the_file_or_of_another_size_is_not_it(
    api: Wrote, storage: Storage, tmp_path: Path, blob: Blob
) -> None:
    page = storage.page(*FILES)
    api.pages = {(".", ""): AddressPage(dict.fromkeys(FILES, blob), "", page.expires, page.first, page.last)}

    await fetched(api, tmp_path)

    assert (len(api.reads), storage.requests) == (6, [])


@pytest.mark.parametrize(
    "wrong",
    [
        answer(403),
        answer(404),
        answer(200, b"0123456789"),
        answer(302, Location="http://127.0.0.1:1/"),
        answer(206, b"x", Content_Range="bytes 0-0/10"),
        answer(206, b"x" * 10, Content_Range="bytes 3-12/13"),
        answer(206, b"x" * 10, Content_Range="bytes 0-9/10", x_ms_blob_content_md5="AAAA"),
        answer(206, b"x" * 10),
        answer(500),
        answer(412),
    ],
)
async def test_files_are_whole_also_where_storage_answers_something_else(
    api: Wrote, storage: Storage, tmp_path: Path, wrong: Trouble
) -> None:
    storage.troubles = [wrong] * 5

    assert (await fetched(api, tmp_path)).saved == 6


async def test_an_address_that_has_expired_is_asked_for_anew(
    api: Wrote, storage: Storage, tmp_path: Path
) -> None:
    storage.troubles = [answer(403)]

    await fetched(api, tmp_path)

    assert (len(storage.requests), api.reads) == (7, [])


async def test_a_storage_that_is_out_of_reach_is_left_alone(
    api: Wrote, storage: Storage, tmp_path: Path
) -> None:
    storage.url = "http://127.0.0.1:1"
    many = {f"{number:03}": b"x" for number in range(100)}
    api.root, storage.blobs = many, many
    page = storage.page(*many)
    calls = 0

    class Counting(Wrote):
        async def addresses(
            self, job_id: str, directory: str, path: str, after: str = ""
        ) -> AddressPage | None:
            nonlocal calls
            calls += 1
            return page

    outcome = await fetched(Counting(many), tmp_path)

    assert (outcome.saved, outcome.failed) == (100, [])
    assert calls < 20


async def test_a_deployment_without_addresses_is_asked_once(
    api: Wrote, storage: Storage, tmp_path: Path
) -> None:
    calls: list[str] = []

    class Older(Wrote):
        async def addresses(
            self, job_id: str, directory: str, path: str, after: str = ""
        ) -> AddressPage | None:
            calls.append(path)
            return None

    await fetched(Older(FILES), tmp_path)

    assert calls == ["."]
