"""A page of the list of a folder of blobs: each name as it is, and no page that cannot be read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.adapters.storage.wire.bloblist import Blob, BlobPage, find_blob, list_blobs
from shared.adapters.storage.wire.rest import OTHERS, Answer, Request, Rest, Send
from shared.adapters.storage.wire.sign import SharedKey
from shared.core.errors import Misuse, Unavailable

_PROPERTIES = (
    "<Properties><Last-Modified>Fri, 27 Nov 2026 02:00:00 GMT</Last-Modified><Etag>0x8D</Etag>"
    "<Content-Length>3</Content-Length></Properties>"
)
_MODIFIED = datetime(2026, 11, 27, 2, tzinfo=UTC)
_OF_STORAGE = {"x-ms-request-id": "r"}
_HEAD = {"content-length": "3", "last-modified": "Fri, 27 Nov 2026 02:00:00 GMT", "etag": '"0x8D"'}


async def page_of(status: int, body: str = "", after: str = "") -> BlobPage:
    async def send(request: Request) -> Answer:
        return Answer(status, _OF_STORAGE, body.encode())

    return await list_blobs(_rest(send), "runs", "a/", 10, after)


def _rest(send: Send) -> Rest:
    return Rest("http://h/acct", SharedKey("acct", "a2V5"), send, version=OTHERS, backoff=0)


def listed(name: str, rest: str = _PROPERTIES) -> str:
    blobs = f"<Blobs><BlobPrefix><Name>a/b/</Name></BlobPrefix><Blob>{name}{rest}</Blob></Blobs>"
    return f"<EnumerationResults>{blobs}<NextMarker>2!m</NextMarker></EnumerationResults>"


@pytest.mark.parametrize(
    ("element", "name"),
    [
        ("<Name>a/model &amp; më.bin</Name>", "a/model & më.bin"),
        ("<Name>a/100%25</Name>", "a/100%25"),
        ('<Name Encoded="true">a/%EF%BF%BE%25</Name>', "a/\ufffe%"),
        ("<Name> a/spaces </Name>", " a/spaces "),
    ],
)
async def test_each_name_is_as_it_was_written(element: str, name: str) -> None:
    blob = Blob(name, 3, _MODIFIED, {}, "0x8D")
    assert await page_of(200, listed(element)) == BlobPage((blob,), "2!m", ("a/b/",))


async def test_metadata_come_with_a_blob() -> None:
    element = "<Name>a/b</Name><Metadata><hdi_isfolder>true</hdi_isfolder><empty /></Metadata>"
    (blob,) = (await page_of(200, listed(element))).blobs
    assert blob.metadata == {"hdi_isfolder": "true", "empty": ""}


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<EnumerationResults><Blobs>",
        "{}",
        listed(""),
        listed("<Name>a/b</Name>", ""),
        listed("<Name>a/b</Name>", _PROPERTIES.replace("3<", "x<")),
        listed("<Name>a/b</Name>", _PROPERTIES.replace("Fri, 27", "Soon")),
    ],
)
async def test_a_page_that_cannot_be_read_is_no_page(body: str) -> None:
    with pytest.raises(Unavailable, match="not a list of blobs"):
        await page_of(200, body)


async def test_no_container_has_no_blobs() -> None:
    assert await page_of(404) == BlobPage((), "")


async def test_a_marker_of_another_origin_is_the_callers_mistake() -> None:
    with pytest.raises(Misuse, match="not the `next`"):
        await page_of(400, after="none of ours")


async def test_a_long_page_is_read_beside_the_event_loop_and_the_same() -> None:
    blobs = "".join(f"<Blob><Name>a/{n}</Name>{_PROPERTIES}</Blob>" for n in range(500))
    page = await page_of(
        200, f"<EnumerationResults><Blobs>{blobs}</Blobs><NextMarker /></EnumerationResults>"
    )
    assert page == BlobPage(tuple(Blob(f"a/{n}", 3, _MODIFIED, {}, "0x8D") for n in range(500)), "")


@pytest.mark.parametrize(
    ("prefix", "deep", "query"),
    [
        ("a/", False, "prefix=a%2F&delimiter=%2F&include=metadata&maxresults=10"),
        ("a/", True, "prefix=a%2F&include=metadata&maxresults=10"),
        ("", True, "include=metadata&maxresults=10"),
    ],
)
async def test_a_list_is_of_one_folder_or_of_all_below_it(prefix: str, deep: bool, query: str) -> None:
    urls = list[str]()

    async def send(request: Request) -> Answer:
        urls.append(request.url)
        return Answer(404, _OF_STORAGE, b"")

    await list_blobs(_rest(send), "runs", prefix, 10, "", deep=deep)

    assert urls == [f"http://h/acct/runs?restype=container&comp=list&{query}"]


async def sought(name: str, answer: Answer) -> tuple[Blob | None, str]:
    urls = list[str]()

    async def send(request: Request) -> Answer:
        urls.append(f"{request.verb} {request.url}")
        return answer

    return await find_blob(_rest(send), "runs", name), urls[0]


async def test_one_blob_is_as_lists_show_it() -> None:
    headers = {**_HEAD, "x-ms-meta-mode": "explain", "x-ms-request-id": "r"}
    assert await sought("a/\u00fc b#1.py", Answer(200, headers, b"")) == (
        Blob("a/\u00fc b#1.py", 3, _MODIFIED, {"mode": "explain"}, "0x8D"),
        "HEAD http://h/acct/runs/a/%C3%BC%20b%231.py",
    )


async def test_a_blob_that_is_missing_is_none() -> None:
    assert (await sought("a", Answer(404, _OF_STORAGE, b"")))[0] is None


@pytest.mark.parametrize("name", _HEAD)
async def test_an_answer_without_what_a_blob_has_is_none_of_storage(name: str) -> None:
    with pytest.raises(Unavailable, match="not a blob"):
        await sought(
            "a", Answer(200, _OF_STORAGE | {key: text for key, text in _HEAD.items() if key != name}, b"")
        )


async def test_a_length_that_is_not_a_number_is_none_of_storage() -> None:
    with pytest.raises(Unavailable, match="not a blob"):
        await sought("a", Answer(200, _OF_STORAGE | _HEAD | {"content-length": "x"}, b""))
