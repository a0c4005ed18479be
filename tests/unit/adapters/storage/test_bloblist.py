"""A page of the list of a folder of blobs: each name as it is, and no page that cannot be read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.adapters.storage.wire.bloblist import Blob, BlobPage, list_blobs
from shared.adapters.storage.wire.rest import OTHERS, Answer, Request, Rest
from shared.adapters.storage.wire.sign import SharedKey
from shared.core.errors import Misuse, Unavailable

_PROPERTIES = (
    "<Properties><Last-Modified>Fri, 27 Nov 2026 02:00:00 GMT</Last-Modified>"
    "<Content-Length>3</Content-Length></Properties>"
)


async def page_of(status: int, body: str = "", after: str = "") -> BlobPage:
    async def send(request: Request) -> Answer:
        return Answer(status, {}, body.encode())

    rest = Rest("http://h/acct", SharedKey("acct", "a2V5"), send, version=OTHERS, backoff=0)
    return await list_blobs(rest, "runs", "a/", 10, after)


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
    modified = datetime(2026, 11, 27, 2, tzinfo=UTC)
    assert await page_of(200, listed(element)) == BlobPage((Blob(name, 3, modified, {}),), "2!m")


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
