"""The archives of code, over the service (Azurite, by key and by identity) and memory."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio

from local.azurite import Azurite
from shared.core.code.snapshots import Snapshot, Snapshots
from tests.contract.addresses.conftest import Secure, Stored, account_by
from tests.doubles.memory_snapshots import MemorySnapshots

pytestmark = pytest.mark.asyncio(loop_scope="session")
DATA = b"the bytes of an archive"
BLOB = f"vision/{hashlib.sha256(DATA).hexdigest()}"
ONCE = {"x-ms-blob-type": "BlockBlob", "If-None-Match": "*"}


def _now() -> datetime:
    return datetime.now(UTC)


@pytest_asyncio.fixture(loop_scope="session", params=["memory", "key", "identity"])
async def snapshots(
    request: pytest.FixtureRequest, storage: Azurite, secure: Secure
) -> AsyncIterator[Snapshots]:
    if request.param == "memory":
        yield MemorySnapshots(_now)
        return
    async with account_by(request.param, storage, secure) as account:
        yield account.snapshots


async def listed(snapshots: Snapshots) -> list[Snapshot]:
    return [one async for one in snapshots.listed()]


async def content(snapshots: Snapshots, blob: str = BLOB) -> bytes:
    return b"".join([part async for part in snapshots.read(blob)])


async def test_nothing_is_there_before_the_first_one(snapshots: Snapshots) -> None:
    assert await snapshots.find(BLOB) is None
    assert await listed(snapshots) == []
    assert await content(snapshots) == b""
    assert not await snapshots.touch(BLOB)
    assert not await snapshots.delete(BLOB, "0x1")


async def test_an_archive_is_written_once(snapshots: Snapshots) -> None:
    assert await snapshots.put(BLOB, DATA)
    assert not await snapshots.put(BLOB, b"other bytes")

    assert await content(snapshots) == DATA
    (one,) = await listed(snapshots)
    assert await snapshots.find(BLOB) == one
    assert (one.blob, one.size, one.accepted) == (BLOB, len(DATA), False)
    assert abs(_now() - one.modified) < timedelta(minutes=1)


async def test_a_touch_makes_it_young_and_keeps_it_from_who_listed_it_before(snapshots: Snapshots) -> None:
    await snapshots.put(BLOB, DATA)
    (before,) = await listed(snapshots)

    assert await snapshots.touch(BLOB)

    (after,) = await listed(snapshots)
    assert await snapshots.find(BLOB) == after
    assert after.accepted
    assert after.modified >= before.modified
    assert not await snapshots.delete(BLOB, before.etag)
    assert await content(snapshots) == DATA
    assert await snapshots.delete(BLOB, after.etag)
    assert not await snapshots.delete(BLOB, after.etag)
    assert await listed(snapshots) == []


async def test_an_upload_address_creates_one_blob_once_and_nothing_else(stored: Stored) -> None:
    until = _now() + timedelta(minutes=5)
    address = await stored.snapshots.upload_address(BLOB, until)

    async with stored.http.put(address.replace(BLOB, BLOB[:-1] + "x"), data=DATA, headers=ONCE) as other:
        assert other.status == 403
    async with stored.http.put(address, data=DATA, headers=ONCE) as first:
        assert first.status == 201
    for headers in (ONCE, {"x-ms-blob-type": "BlockBlob"}):
        async with stored.http.put(address, data=b"other bytes", headers=headers) as again:
            assert again.status in (403, 409)
    block = f"{address}&comp=block&blockid=MDAw"
    for refused in (stored.http.get(address), stored.http.delete(address), stored.http.put(block, data=b"x")):
        async with refused as answer:
            assert answer.status == 403
    assert await content(stored.snapshots) == DATA


@pytest.mark.parametrize(
    "extra",
    [
        {"x-ms-access-tier": "Archive"},
        *({"x-ms-blob-content-encoding": one} for one in ("gzip", "deflate", "br")),
    ],
    ids=lambda extra: "".join(extra.values()),
)
async def test_what_not_all_read_alike_is_not_readable(stored: Stored, extra: dict[str, str]) -> None:
    """Its uploader chose the tier, or the encoding that storage says it has."""
    address = await stored.snapshots.upload_address(BLOB, _now() + timedelta(minutes=5))
    async with stored.http.put(address, data=DATA, headers=ONCE | extra) as answer:
        assert answer.status == 201

    (one,) = await listed(stored.snapshots)
    assert (await stored.snapshots.find(BLOB), one.is_readable) == (one, False)
    assert await stored.snapshots.delete(BLOB, one.etag)


async def upload(stored: Stored, blob: str = BLOB, **metadata: str) -> None:
    """As a client uploads: what it says of the archive stands in headers."""
    address = await stored.snapshots.upload_address(blob, _now() + timedelta(minutes=5))
    headers = ONCE | {f"x-ms-meta-{name}": value for name, value in metadata.items()}
    async with stored.http.put(address, data=DATA, headers=headers) as answer:
        assert answer.status == 201


async def test_only_the_app_says_that_a_job_was_accepted_with_an_archive(stored: Stored) -> None:
    other, accepted = f"vision/{'0' * 64}", f"vision/{'1' * 64}"
    await upload(stored, accepted)
    assert await stored.snapshots.touch(accepted)
    (first,) = await listed(stored.snapshots)
    while (again := await stored.snapshots.find(accepted)) is None or again.modified <= first.modified:
        await asyncio.sleep(0.2)  # the times of storage are whole seconds
        await stored.snapshots.touch(accepted)
    marked = stored.snapshots._account.blobs.get_blob_client(stored.snapshots._container, accepted)
    mark = (await marked.get_blob_properties()).metadata["accepted"]
    await upload(stored, BLOB, accepted="1")
    await upload(stored, other, accepted=mark)

    for process in (stored.snapshots, stored.another()):
        shown = {one.blob: one.accepted for one in await listed(process)}
        assert shown == {other: False, accepted: True, BLOB: False}
    assert await stored.snapshots.touch(other)
    now = await stored.another().find(other)
    assert now is not None
    assert now.accepted


async def test_archives_stay_marked_where_the_key_of_the_marks_was_lost(stored: Stored) -> None:
    await upload(stored)
    assert await stored.snapshots.touch(BLOB)
    await stored.snapshots._account.blobs.get_blob_client(stored.snapshots._container, ".marks").delete_blob()

    (one,) = await listed(stored.another())

    assert one.accepted


async def test_a_container_that_was_deleted_is_made_again_for_the_next_upload(stored: Stored) -> None:
    until, snapshots = _now() + timedelta(minutes=5), stored.snapshots
    await snapshots.upload_address(BLOB, until)
    await snapshots._account.blobs.delete_container(snapshots._container)

    assert await snapshots.find(BLOB) is None  # before each upload
    address = await snapshots.upload_address(BLOB, until)

    async with stored.http.put(address, data=DATA, headers=ONCE) as answer:
        assert answer.status == 201


async def test_an_uploader_who_makes_a_snapshot_in_storage_keeps_no_archive(stored: Stored) -> None:
    address = await stored.snapshots.upload_address(BLOB, _now() + timedelta(minutes=5))
    async with stored.http.put(address, data=DATA, headers=ONCE) as first:
        assert first.status == 201
    async with stored.http.put(f"{address}&comp=snapshot") as second:
        assert second.status == 201
    (one,) = await listed(stored.snapshots)

    assert await stored.snapshots.delete(one.blob, one.etag)
    assert await listed(stored.snapshots) == []


async def test_a_read_address_reads_one_blob_and_nothing_else(stored: Stored) -> None:
    await stored.snapshots.put(BLOB, DATA)
    address = await stored.snapshots.read_address(BLOB, _now() + timedelta(days=60))

    async with stored.http.get(address) as answer:
        assert (answer.status, await answer.read()) == (200, DATA)
    for refused in (
        stored.http.get(re.sub(r"/vision/.*\?", "?restype=container&comp=list&", address)),
        stored.http.put(address, data=b"y", headers={"x-ms-blob-type": "BlockBlob"}),
        stored.http.delete(address),
    ):
        async with refused as other:
            assert other.status in (400, 403)


async def test_an_address_lasts_as_long_as_the_app_can_sign_for(stored: Stored) -> None:
    """By key as long as it is wanted; by an identity a week, less what clocks may differ."""
    until = _now() + timedelta(days=60)

    query = parse_qs(urlsplit(await stored.snapshots.read_address(BLOB, until)).query)

    end = datetime.strptime(query["se"][0], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    lasts = end - _now()
    assert timedelta(days=6, hours=22) < lasts < timedelta(days=7) if "skoid" in query else lasts.days == 59
    assert (stored.snapshots.longest is not None) is ("skoid" in query)
