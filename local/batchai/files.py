"""A small File service over the directories that are mounted as shares (Azure Storage REST, "File service").

Shares, directories and files: create, look, list, upload in ranges, download, delete. Requests carry the
account's shared key signature or a SAS, which is checked. No leases, snapshots, metadata, access lists.
"""

import asyncio
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email.utils import formatdate
from pathlib import Path
from xml.etree import ElementTree as Xml  # only written here, never parsed

from aiohttp import web

from local.batchai import sas, signature
from local.batchai.ranges import answer_file
from local.batchai.settings import Settings

_SHARE_NAME = re.compile(r"[a-z0-9](?:-?[a-z0-9]){2,62}")
_RANGE = re.compile(r"bytes=(\d+)-(\d+)")
_LARGEST_RANGE = 4 << 20
_LARGEST_FILE = 1 << 40


class FileError(Exception):
    """A refusal in the form of the storage services."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True)
class _Item:
    """What a request is about: a share, or a path in one."""

    request: web.Request
    share: Path
    path: Path


class FileService:
    """Answers below /<account>."""

    def __init__(self, settings: Settings, clock: Callable[[], datetime]) -> None:
        self._account = settings.account
        self._root = settings.shares / settings.account.name
        self._clock = clock
        self._operations = {
            "PUT share": self._create_share,
            "GET share": self._show,
            "DELETE share": self._delete_directory,
            "GET share list": self._list_shares,
            "PUT directory": self._create_directory,
            "GET directory": self._show,
            "GET directory list": self._list_directory,
            "DELETE directory": self._delete_empty,
            "PUT file": self._create_file,
            "PUT file range": self._write_range,
            "GET file": self._read_file,
            "DELETE file": self._delete_file,
        }

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        try:
            name = _operation(request)
            self._check_signature(request, name)
            operation = self._operations.get(name)
            if operation is None:
                raise FileError(400, "UnsupportedOperation", f"This emulator has no {name}")
            answer = await operation(self._item(request, name))
        except FileError as error:
            answer = _error(error, request.method)
        if not answer.prepared:
            answer.headers["x-ms-version"] = request.headers.get("x-ms-version", "2021-12-02")
        return answer

    def _check_signature(self, request: web.Request, operation: str) -> None:
        if "sig" in request.query and "Authorization" not in request.headers:
            asked = sas.Asked(operation, request.path, request.query, request.scheme, request.remote or "")
            if refused := sas.refusal(asked, self._account.name, self._account.key, self._clock()):
                raise FileError(403, *refused)
            return
        authorization = request.headers.get("Authorization", "")
        headers = {name.lower(): value for name, value in request.headers.items()}
        key, name = self._account.key, self._account.name
        if not signature.fits(authorization, key, name, request.method, request.raw_path, headers):
            raise FileError(403, "AuthenticationFailed", "The shared key signature does not fit the request")

    def _item(self, request: web.Request, operation: str) -> _Item:
        parts = _parts(request)
        if any(part in (".", "..") or "\0" in part for part in parts):
            raise FileError(400, "InvalidResourceName", "The path contains a name that is not allowed")
        if not parts:
            return _Item(request, self._root, self._root)
        if not _SHARE_NAME.fullmatch(parts[0]):
            raise FileError(
                400, "InvalidResourceName", "A share name has 3 to 63 lower-case letters, digits and '-'"
            )
        share = self._root / parts[0]
        if operation != "PUT share" and not share.is_dir():
            raise FileError(404, "ShareNotFound", "The specified share does not exist.")
        return _Item(request, share, share.joinpath(*parts[1:]))

    async def _create_share(self, item: _Item) -> web.StreamResponse:
        return self._make(item.path, "ShareAlreadyExists", parents=True)

    async def _create_directory(self, item: _Item) -> web.StreamResponse:
        return self._make(item.path, "ResourceAlreadyExists", parents=False)

    def _make(self, path: Path, code: str, *, parents: bool) -> web.StreamResponse:
        try:
            path.mkdir(parents=parents)
        except FileExistsError:
            raise FileError(409, code, "The specified resource already exists.") from None
        except FileNotFoundError:
            raise FileError(404, "ParentNotFound", "The specified parent path does not exist.") from None
        return web.Response(status=201, headers=self._properties(path))

    async def _show(self, item: _Item) -> web.StreamResponse:
        if not item.path.is_dir():
            raise FileError(404, "ResourceNotFound", "The specified resource does not exist.")
        return web.Response(status=200, headers=self._properties(item.path))

    async def _delete_directory(self, item: _Item) -> web.StreamResponse:
        await asyncio.to_thread(shutil.rmtree, item.path)
        return web.Response(status=202)

    async def _delete_empty(self, item: _Item) -> web.StreamResponse:
        try:
            item.path.rmdir()
        except FileNotFoundError:
            raise FileError(404, "ResourceNotFound", "The specified resource does not exist.") from None
        except OSError:
            raise FileError(409, "DirectoryNotEmpty", "The specified directory is not empty.") from None
        return web.Response(status=202)

    async def _list_shares(self, item: _Item) -> web.StreamResponse:
        self._root.mkdir(parents=True, exist_ok=True)
        prefix = item.request.query.get("prefix", "")
        root = Xml.Element("EnumerationResults", ServiceEndpoint=str(item.request.url.with_query(None)))
        shares = Xml.SubElement(root, "Shares")
        for share in sorted(self._root.iterdir()):
            if share.name.startswith(prefix):
                entry = Xml.SubElement(shares, "Share")
                Xml.SubElement(entry, "Name").text = share.name
                properties = Xml.SubElement(entry, "Properties")
                Xml.SubElement(properties, "Last-Modified").text = _modified(share)
                Xml.SubElement(properties, "Etag").text = _etag(share)
                Xml.SubElement(properties, "Quota").text = "5120"
        Xml.SubElement(root, "NextMarker")
        return _xml(root)

    async def _list_directory(self, item: _Item) -> web.StreamResponse:
        if not item.path.is_dir():
            raise FileError(404, "ResourceNotFound", "The specified resource does not exist.")
        prefix = item.request.query.get("prefix", "")
        root = Xml.Element("EnumerationResults", ShareName=item.share.name)
        entries = Xml.SubElement(root, "Entries")
        for path in sorted(item.path.iterdir()):
            if path.name.startswith(prefix) and path.exists():
                entry = Xml.SubElement(entries, "Directory" if path.is_dir() else "File")
                Xml.SubElement(entry, "Name").text = path.name
                properties = Xml.SubElement(entry, "Properties")
                if path.is_file():
                    Xml.SubElement(properties, "Content-Length").text = str(path.stat().st_size)
        Xml.SubElement(root, "NextMarker")
        return _xml(root)

    async def _create_file(self, item: _Item) -> web.StreamResponse:
        length = item.request.headers.get("x-ms-content-length", "")
        if not length.isdigit() or int(length) > _LARGEST_FILE:
            raise FileError(400, "InvalidHeaderValue", "x-ms-content-length must be the size of the file")
        if not item.path.parent.is_dir():
            raise FileError(404, "ParentNotFound", "The specified parent path does not exist.")
        if item.path.is_dir():
            raise FileError(409, "ResourceTypeMismatch", "There is a directory of this name.")
        with item.path.open("wb") as file:
            file.truncate(int(length))
        return web.Response(status=201, headers=self._properties(item.path))

    async def _write_range(self, item: _Item) -> web.StreamResponse:
        headers = item.request.headers
        match = _RANGE.fullmatch(headers.get("x-ms-range") or headers.get("Range") or "")
        if match is None or int(match[2]) < int(match[1]):
            raise FileError(400, "InvalidHeaderValue", "x-ms-range must be bytes=first-last")
        first, size = int(match[1]), int(match[2]) - int(match[1]) + 1
        clear = headers.get("x-ms-write") == "clear"
        body = b"" if clear else await item.request.read()
        if not clear and (len(body) != size or size > _LARGEST_RANGE):
            raise FileError(400, "InvalidHeaderValue", "The body must be as long as the range, 4 MiB at most")
        self._existing(item)
        if first + size > item.path.stat().st_size:
            raise FileError(416, "InvalidRange", "The range lies beyond the file.")
        with item.path.open("r+b") as file:
            file.seek(first)
            file.write(bytes(size) if clear else body)
        return web.Response(status=201, headers=self._properties(item.path))

    async def _read_file(self, item: _Item) -> web.StreamResponse:
        self._existing(item)
        if item.request.method == "HEAD":
            size = str(item.path.stat().st_size)
            headers = self._properties(item.path) | {"Content-Length": size, "x-ms-type": "File"}
            return web.Response(status=200, headers=headers)
        return await answer_file(item.request, item.path)

    async def _delete_file(self, item: _Item) -> web.StreamResponse:
        self._existing(item)
        item.path.unlink()
        return web.Response(status=202)

    def _existing(self, item: _Item) -> None:
        if not item.path.is_file() or not item.path.resolve().is_relative_to(item.share.resolve()):
            raise FileError(404, "ResourceNotFound", "The specified resource does not exist.")

    def _properties(self, path: Path) -> dict[str, str]:
        return {
            "ETag": _etag(path),
            "Last-Modified": _modified(path),
            "x-ms-request-server-encrypted": "false",
        }


def _parts(request: web.Request) -> list[str]:
    return [part for part in request.match_info["path"].split("/") if part]


def _operation(request: web.Request) -> str:
    """What is asked for: the method, the kind of resource, what of it."""
    kind = request.query.get("restype") or ("share" if len(_parts(request)) < 2 else "file")
    method = "GET" if request.method == "HEAD" else request.method
    return " ".join(filter(None, (method, kind, request.query.get("comp"))))


def _etag(path: Path) -> str:
    return f'"0x8D{path.stat().st_mtime_ns:013X}"'


def _modified(path: Path) -> str:
    return formatdate(path.stat().st_mtime, usegmt=True)


def _xml(root: Xml.Element, status: int = 200) -> web.Response:
    text = '<?xml version="1.0" encoding="utf-8"?>' + Xml.tostring(root, encoding="unicode")
    return web.Response(status=status, text=text, content_type="application/xml")


def _error(error: FileError, method: str) -> web.Response:
    root = Xml.Element("Error")
    Xml.SubElement(root, "Code").text = error.code
    Xml.SubElement(root, "Message").text = str(error)
    answer = web.Response(status=error.status) if method == "HEAD" else _xml(root, error.status)
    answer.headers["x-ms-error-code"] = error.code
    return answer
