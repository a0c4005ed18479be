"""One page of the list of a folder of blobs, by plain HTTP: the SDK takes ten times the processor time.

learn.microsoft.com/rest/api/storageservices/list-blobs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from shared.core.errors import Misuse, Unavailable

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from shared.adapters.storage.wire.rest import Answer, Rest


#: Bytes of a page that is read at once: some ten blobs.
_SHORT = 16 << 10
#: What the headers of a blob's metadata begin with.
_META = "x-ms-meta-"


class Blob(NamedTuple):
    """A blob of a list; `name` is its full name in the container."""

    name: str
    size: int
    modified: datetime
    metadata: Mapping[str, str]
    etag: str = ""
    #: "" where the answer does not name it
    tier: str = ""
    #: what its writer says of its encoding, which HTTP libraries believe
    encoding: str = ""
    #: whether it is encrypted with a key of its writer, without which storage refuses to read it
    is_keyed: bool = False


class BlobPage(NamedTuple):
    """Some blobs in the order of their names; `next` is the start of the following ones, or "".

    `folders`: the names, each with its slash, of those that a list without `deep` leaves out.
    """

    blobs: tuple[Blob, ...]
    next: str
    folders: tuple[str, ...] = ()


async def list_blobs(
    rest: Rest, container: str, prefix: str, count: int, after: str, *, deep: bool = False
) -> BlobPage:
    """The blobs whose names are the prefix and a name without a slash, or any name with `deep`.

    None if there is no container. A long page is read in a thread, so that other calls go on. Raises Misuse
    for an `after` that is not from an earlier page, and Unavailable.
    """
    query = {
        "restype": "container", "comp": "list", **({"prefix": prefix} if prefix else {}),
        **({} if deep else {"delimiter": "/"}), "include": "metadata",
        "maxresults": str(count), **({"marker": after} if after else {}),
    }  # fmt: skip
    bad = (HTTPStatus.BAD_REQUEST,) if after else ()
    answer = await rest.call("GET", f"/{quote(container)}", query, expected=(HTTPStatus.NOT_FOUND, *bad))
    if answer.status == HTTPStatus.NOT_FOUND:
        return BlobPage((), "")
    if answer.status == HTTPStatus.BAD_REQUEST:
        raise Misuse("after is not the `next` of an earlier answer", remedy="begin without it")
    if len(answer.body) < _SHORT:
        return _page(answer.body)
    return await asyncio.to_thread(_page, answer.body)


async def find_blob(rest: Rest, container: str, name: str) -> Blob | None:
    """One blob; None if it is missing. Raises Unavailable."""
    return blob_of(name, await head_blob(rest, container, name))


async def head_blob(rest: Rest, container: str, name: str) -> Answer:
    """The answer to a HEAD of one blob: 404 if it is missing, 409 if its writer has its key.

    Raises Unavailable.
    """
    path = f"/{quote(container)}/{quote(name, safe='/~')}"
    return await rest.call("HEAD", path, expected=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT))


def blob_of(name: str, answer: Answer) -> Blob | None:
    """The blob that an answer to a HEAD describes; None if it is missing. Raises Unavailable."""
    if answer.status == HTTPStatus.NOT_FOUND:
        return None
    headers = answer.headers
    if answer.status == HTTPStatus.CONFLICT:
        raise Unavailable(f"storage answered 409 {headers.get('x-ms-error-code', '')}".rstrip())
    try:
        return Blob(
            name,
            int(headers["content-length"]),
            parsedate_to_datetime(headers["last-modified"]),
            {one.removeprefix(_META): text for one, text in headers.items() if one.startswith(_META)},
            headers["etag"].strip('"'),
            headers.get("x-ms-access-tier", ""),
            headers.get("content-encoding", ""),
        )
    except (KeyError, ValueError) as error:
        raise Unavailable("storage answered with something that is not a blob") from error


def _page(body: bytes) -> BlobPage:
    from xml.etree import ElementTree

    try:
        whole = ElementTree.fromstring(body)  # noqa: S314 - storage of one's own says it
        return BlobPage(
            tuple(_blob(one) for one in whole.iterfind("Blobs/Blob")),
            whole.findtext("NextMarker") or "",
            tuple(_name_of(one) for one in whole.iterfind("Blobs/BlobPrefix")),
        )
    except (ElementTree.ParseError, KeyError, TypeError, ValueError) as error:
        raise Unavailable("storage answered with something that is not a list of blobs") from error


def _blob(element: Element) -> Blob:
    properties, metadata = element.find("Properties"), element.find("Metadata")
    if properties is None:
        raise ValueError("no blob")
    return Blob(
        _name_of(element),
        int(properties.findtext("Content-Length", "")),
        parsedate_to_datetime(properties.findtext("Last-Modified", "")),
        {one.tag: one.text or "" for one in (metadata if metadata is not None else ())},
        properties.findtext("Etag", "").strip('"'),
        properties.findtext("AccessTier", ""),
        properties.findtext("Content-Encoding", ""),
        properties.find("CustomerProvidedKeySha256") is not None,
    )


def _name_of(element: Element) -> str:
    name = element.find("Name")
    if name is None or not name.text:
        raise ValueError("no name")
    return unquote(name.text) if name.get("Encoded") == "true" else name.text
