"""Signed addresses against Azurite, by an account's key and by user delegation."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from shared.adapters.storage import addresses as module
from tests.breadth import one_each
from tests.contract.addresses.conftest import TOP, VALID, Stored
from tests.names import DEEP, each, kind_of, tree

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: A name of each kind, or all.
SOME = one_each(each(), kind_of)


async def test_an_address_reads_one_blob_and_nothing_else(stored: Stored) -> None:
    await stored.put("weights.bin", b"0123456789")
    await stored.put("other.bin")

    address = await stored.addresses.find(stored.folder(), "weights.bin")

    assert address is not None
    assert (address.name, address.size) == ("weights.bin", 10)
    async with stored.http.get(address.url, headers={"Range": "bytes=2-4"}) as part:
        assert (part.status, await part.read()) == (206, b"234")
        assert part.headers["Content-Disposition"].startswith("attachment")
        assert part.headers["Content-Type"] == "application/octet-stream"
    for refused in (
        stored.http.get(address.url.replace("weights.bin?", "other.bin?")),
        stored.http.get(re.sub(r"/acct/.*\?", "?restype=container&comp=list&", address.url)),
        stored.http.put(address.url, data=b"y", headers={"x-ms-blob-type": "BlockBlob"}),
        stored.http.delete(address.url),
    ):
        async with refused as answer:
            assert answer.status in (400, 403), answer.url


async def test_it_is_valid_for_minutes_and_signed_as_the_app_can(stored: Stored) -> None:
    await stored.put("a")

    address = await stored.addresses.find(stored.folder(), "a")

    assert address is not None
    query = parse_qs(urlsplit(address.url).query)
    until = datetime.strptime(query["se"][0], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert until - datetime.now(UTC) <= VALID
    assert (query["sp"], query["sr"]) == (["r"], ["b"])
    assert ("skoid" in query, query["spr"]) == (
        (True, ["https"]) if address.url.startswith("https:") else (False, ["https,http"])
    )
    assert "sig" not in repr(address)


async def test_an_address_ends(stored: Stored) -> None:
    await stored.put("a")
    stored.clock.ahead = -timedelta(minutes=6)

    address = await stored.addresses.find(stored.folder(), "a")

    assert address is not None
    async with stored.http.get(address.url) as answer:
        assert answer.status == 403


async def test_an_address_reads_its_blob_after_the_clock_was_ahead_for_a_while(stored: Stored) -> None:
    await stored.put("a")
    stored.clock.ahead = timedelta(days=3)
    await stored.addresses.find(stored.folder(), "a")
    stored.clock.ahead = timedelta(0)

    address = await stored.addresses.find(stored.folder(), "a")

    assert address is not None
    async with stored.http.get(address.url) as answer:
        assert answer.status == 200, await answer.text()


async def test_a_folder_comes_in_pages_in_the_order_of_names(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FIRST", 1)
    monkeypatch.setattr(module, "_PAGE", 2)
    names = ["Case", "a & %41 #1?.txt", "case", "\u00fc.txt"]
    for name in (*names, "deep/below.txt"):
        await stored.put(name, name.encode())
    await stored.container.upload_blob(f"{TOP}0/beside", b"x")

    listed: dict[str, str] = {}
    counts: list[int] = []
    after = ""
    while True:
        page = await stored.addresses.page(stored.folder(), after)
        counts.append(len(page.addresses))
        listed |= {one.name: one.url for one in page.addresses}
        after = page.next
        if not after:
            break

    assert [*listed] == names
    assert counts == [1, 2, 1]
    for name, url in listed.items():
        async with stored.http.get(url) as answer:
            assert await answer.read() == name.encode()
    (below,) = (await stored.addresses.page(stored.folder(f"{TOP}/deep"), "")).addresses
    assert below.name == "below.txt"


async def test_the_address_of_a_file_of_any_name_gives_its_own_bytes(stored: Stored) -> None:
    """The one of a list, and the one that a large file is answered with."""
    several, files = asyncio.Semaphore(8), tree(SOME, DEEP)
    await asyncio.gather(*(stored.put(path, content) for path, content in files.items()))
    folders = sorted({path.rpartition("/")[0] for path in files})
    listed: dict[str, str] = {}
    for folder in folders:
        page = await stored.addresses.page(stored.folder(f"{TOP}/{folder}"), "")
        while True:
            listed |= {f"{folder}/{one.name}": one.url for one in page.addresses}
            if not page.next:
                break
            page = await stored.addresses.page(stored.folder(f"{TOP}/{folder}"), page.next)

    async def both(path: str) -> tuple[bytes, bytes]:
        async with several:
            above, _, name = path.rpartition("/")
            address = await stored.addresses.find(stored.folder(f"{TOP}/{above}"), name)
            assert address is not None, path
            async with stored.http.get(address.url) as one, stored.http.get(listed[path]) as other:
                return await one.read(), await other.read()

    assert listed.keys() == files.keys()
    results = dict(zip(files, await asyncio.gather(*map(both, files)), strict=True))
    assert {path for path, result in results.items() if result != (files[path], files[path])} == set()


async def test_what_is_no_file_has_no_address(stored: Stored) -> None:
    await stored.put("link", b"/etc/passwd", is_symlink="true")
    await stored.put("folder", b"", hdi_isfolder="true")

    assert (await stored.addresses.page(stored.folder(), "")).addresses == ()
    assert await stored.addresses.find(stored.folder(), "link") is None
    assert await stored.addresses.find(stored.folder(), "none") is None


async def test_a_container_that_is_missing_is_empty(stored: Stored) -> None:
    await stored.container.delete_container()

    page = await stored.addresses.page(stored.folder(), "")

    assert (page.addresses, page.next) == ((), "")
    assert await stored.addresses.find(stored.folder(), "a") is None


async def test_one_key_of_delegation_signs_many_addresses(stored: Stored) -> None:
    await stored.put("a")
    first = await stored.addresses.find(stored.folder(), "a")
    key = stored.addresses._key._delegated
    await stored.addresses.page(stored.folder(), "")

    assert first is not None
    assert stored.addresses._key._delegated is key
    assert (key is not None) == first.url.startswith("https:")
    assert stored.addresses.account == "devstoreaccount1"
