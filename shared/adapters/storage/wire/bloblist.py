"""One page of the list of a folder of blobs, by plain HTTP: the SDK takes ten times the processor time.

learn.microsoft.com/rest/api/storageservices/list-blobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from shared.core.errors import Misuse, Unavailable

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from shared.adapters.storage.wire.rest import Rest


class Blob(NamedTuple):
    """A blob of a list; `name` is its full name in the container."""

    name: str
    size: int
    modified: datetime
    metadata: Mapping[str, str]


class BlobPage(NamedTuple):
    """Some blobs in the order of their names; `next` is the start of the following ones, or ""."""

    blobs: tuple[Blob, ...]
    next: str


async def list_blobs(rest: Rest, container: str, prefix: str, count: int, after: str) -> BlobPage:
    """The blobs whose names are the prefix and a name without a slash; none if there is no container.

    Raises Misuse for an `after` that is not from an earlier page, and Unavailable.
    """
    query = {
        "restype": "container", "comp": "list", "prefix": prefix, "delimiter": "/", "include": "metadata",
        "maxresults": str(count), **({"marker": after} if after else {}),
    }  # fmt: skip
    bad = (HTTPStatus.BAD_REQUEST,) if after else ()
    answer = await rest.call("GET", f"/{quote(container)}", query, expected=(HTTPStatus.NOT_FOUND, *bad))
    if answer.status == HTTPStatus.NOT_FOUND:
        return BlobPage((), "")
    if answer.status == HTTPStatus.BAD_REQUEST:
        raise Misuse("after is not the `next` of an earlier answer", remedy="begin without it")
    return _page(answer.body)


def _page(body: bytes) -> BlobPage:
    from xml.etree import ElementTree

    try:
        whole = ElementTree.fromstring(body)  # noqa: S314 - storage of one's own says it
        return BlobPage(
            tuple(_blob(one) for one in whole.iterfind("Blobs/Blob")), whole.findtext("NextMarker") or ""
        )
    except (ElementTree.ParseError, KeyError, TypeError, ValueError) as error:
        raise Unavailable("storage answered with something that is not a list of blobs") from error


def _blob(element: Element) -> Blob:
    properties, metadata = element.find("Properties"), element.find("Metadata")
    name = element.find("Name")
    if properties is None or name is None or not name.text:
        raise ValueError("no blob")
    return Blob(
        unquote(name.text) if name.get("Encoded") == "true" else name.text,
        int(properties.findtext("Content-Length", "")),
        parsedate_to_datetime(properties.findtext("Last-Modified", "")),
        {one.tag: one.text or "" for one in (metadata if metadata is not None else ())},
    )
