"""A small File service over the directories that are mounted as shares (Azure Storage REST, "File service").

Shares, directories and files: create, look, list, upload in ranges, download, delete. Requests carry the
account's shared key signature or a SAS, which is checked. No leases, snapshots, metadata, access lists.
"""

import asyncio
import os
import re
from collections.abc import Callable
from datetime import datetime
from xml.etree import ElementTree as Xml  # only written here, never parsed

from aiohttp import web

from confined import Confined
from confined.removal import remove
from local.batchai.files import sas, signature
from local.batchai.files.answers import as_xml, error_answer, etag, exists_already, headers_of, last_modified
from local.batchai.files.share_paths import FileError, Item, not_found_as_404
from local.batchai.state.settings import Settings
from local.file_answer import answer_file, storage_range
from local.names import is_name

_SHARE_NAME = re.compile(r"[a-z0-9](?:-?[a-z0-9]){2,62}")
_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{1,18})")
_LENGTH = re.compile(r"\d{1,18}")
_LARGEST_RANGE = 4 << 20
_LARGEST_FILE = 1 << 40
_LONGEST_PATH = 2048
#: The fewest names that an operation takes; operations on shares take no more.
_LEAST = {
    "GET share list": 0,
    **dict.fromkeys(("PUT share", "GET share", "DELETE share", "GET directory", "GET directory list"), 1),
    **dict.fromkeys(("PUT directory", "DELETE directory"), 2),
    **dict.fromkeys(("PUT file", "PUT file range", "GET file", "DELETE file"), 2),
}
#: In a request: the decoded path below the account.
_PATH = "path"


class FileService:
    """Answers below /<account>, and under the account's own host name."""

    def __init__(self, settings: Settings, clock: Callable[[], datetime]) -> None:
        self._account = settings.account
        self._root = settings.shares / settings.account.name
        self._clock = clock
        self._operations = {
            "PUT share": self._create_share,
            "GET share": self._show,
            "DELETE share": self._delete_share,
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
        """Answer one request as Azure Storage does, errors included."""
        request[_PATH] = self._path_of(request)
        try:
            name = _operation(request)
            self._check_signature(request, name)
            operation = self._operations.get(name)
            if operation is None:
                raise FileError(400, "UnsupportedOperation", f"This emulator does not support {name}")
            answer = await operation(self._item(request, name))
        except FileError as error:
            answer = error_answer(error, request.method)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError):
            not_found = FileError(404, "ResourceNotFound", "The specified resource does not exist.")
            answer = error_answer(not_found, request.method)
        if not answer.prepared:
            answer.headers["x-ms-version"] = request.headers.get("x-ms-version", "2021-12-02")
        return answer

    @property
    def host(self) -> str:
        """The name by which the proxy asks for the service: as in Azure, it is that of the account."""
        return f"{self._account.name}.file.localhost"

    def _path_of(self, request: web.Request) -> str:
        path = request.path.removeprefix("/")
        return path if request.host == self.host else path.removeprefix(self._account.name).removeprefix("/")

    def _check_signature(self, request: web.Request, operation: str) -> None:
        if "sig" in request.query and "Authorization" not in request.headers:
            path = f"/{self._account.name}/{request[_PATH]}"
            # The proxy, which alone uses the name, is asked by https.
            scheme = "https" if request.host == self.host else request.scheme
            signed_request = sas.SignedRequest(operation, path, request.query, scheme, request.remote or "")
            if refused := sas.refusal(signed_request, self._account.name, self._account.key, self._clock()):
                raise FileError(403, *refused)
            return
        authorization = request.headers.get("Authorization", "")
        headers = {name.lower(): value for name, value in request.headers.items()}
        key, name = self._account.key, self._account.name
        if not signature.fits(authorization, key, name, request.method, request.raw_path, headers):
            raise FileError(403, "AuthenticationFailed", "The shared key signature does not fit the request")

    def _item(self, request: web.Request, operation: str) -> Item:
        parts = _parts(request)
        if len(request[_PATH]) > _LONGEST_PATH or not all(map(is_name, parts)):
            raise FileError(400, "InvalidResourceName", "The path contains a name that is not allowed")
        if len(parts) < _LEAST[operation] or (" share" in operation and len(parts) > _LEAST[operation]):
            raise FileError(400, "InvalidUri", f"A {operation} takes another path")
        if not parts:
            return Item(request, self._root, ".")
        if not _SHARE_NAME.fullmatch(parts[0]):
            raise FileError(
                400, "InvalidResourceName", "A share name has 3 to 63 lowercase letters, digits and '-'"
            )
        share = self._root / parts[0]
        if operation != "PUT share" and not share.is_dir():
            raise FileError(404, "ShareNotFound", "The specified share does not exist.")
        return Item(request, share, "/".join(parts[1:]) or ".")

    async def _create_share(self, item: Item) -> web.StreamResponse:
        try:
            item.share.mkdir(parents=True)
        except FileExistsError:
            raise exists_already("ShareAlreadyExists") from None
        return web.Response(status=201, headers=headers_of(item.share.stat()))

    async def _create_directory(self, item: Item) -> web.StreamResponse:
        with not_found_as_404("ParentNotFound"), item.parent() as (parent, name):
            try:
                os.mkdir(name, dir_fd=parent)
            except FileExistsError:
                raise exists_already("ResourceAlreadyExists") from None
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        return web.Response(status=201, headers=headers_of(status))

    async def _show(self, item: Item) -> web.StreamResponse:
        with (
            not_found_as_404(),
            Confined.from_root(item.share) as share,
            share.directory(item.path) as directory,
        ):
            return web.Response(status=200, headers=headers_of(os.fstat(directory.fd)))

    async def _delete_share(self, item: Item) -> web.StreamResponse:
        # A link leads to a directory of the user, which stays.
        if not await asyncio.to_thread(remove, item.share):
            raise FileError(409, "ShareNotEmpty", "The share has files that cannot be removed.")
        return web.Response(status=202)

    async def _delete_empty(self, item: Item) -> web.StreamResponse:
        with not_found_as_404(), item.parent() as (parent, name):
            try:
                os.rmdir(name, dir_fd=parent)
            except (FileNotFoundError, NotADirectoryError):
                raise
            except OSError:
                raise FileError(409, "DirectoryNotEmpty", "The specified directory is not empty.") from None
        return web.Response(status=202)

    async def _list_shares(self, item: Item) -> web.StreamResponse:
        self._root.mkdir(parents=True, exist_ok=True)
        prefix = item.request.query.get("prefix", "")
        root = Xml.Element("EnumerationResults", ServiceEndpoint=str(item.request.url.with_query(None)))
        shares = Xml.SubElement(root, "Shares")
        for share in sorted(self._root.iterdir()):
            if share.name.startswith(prefix) and share.is_dir():
                entry = Xml.SubElement(shares, "Share")
                Xml.SubElement(entry, "Name").text = share.name
                properties = Xml.SubElement(entry, "Properties")
                Xml.SubElement(properties, "Last-Modified").text = last_modified(share.stat())
                Xml.SubElement(properties, "Etag").text = etag(share.stat())
                Xml.SubElement(properties, "Quota").text = "5120"
        Xml.SubElement(root, "NextMarker")
        return as_xml(root)

    async def _list_directory(self, item: Item) -> web.StreamResponse:
        with not_found_as_404(), Confined.from_root(item.share) as share:
            files = share.entries(item.path)
        prefix = item.request.query.get("prefix", "")
        root = Xml.Element("EnumerationResults", ShareName=item.share.name)
        entries = Xml.SubElement(root, "Entries")
        for one in files:
            if one.name.startswith(prefix) and is_name(one.name) and one.kind in ("file", "directory"):
                entry = Xml.SubElement(entries, one.kind.capitalize())
                Xml.SubElement(entry, "Name").text = one.name
                properties = Xml.SubElement(entry, "Properties")
                if one.kind == "file":
                    Xml.SubElement(properties, "Content-Length").text = str(one.size)
        Xml.SubElement(root, "NextMarker")
        return as_xml(root)

    async def _create_file(self, item: Item) -> web.StreamResponse:
        length = item.request.headers.get("x-ms-content-length", "")
        if not _LENGTH.fullmatch(length) or int(length) > _LARGEST_FILE:
            raise FileError(400, "InvalidHeaderValue", "x-ms-content-length must be the size of the file")
        try:
            with not_found_as_404("ParentNotFound"), item.create() as file:
                file.truncate(0)
                file.truncate(int(length))
                return web.Response(status=201, headers=headers_of(os.fstat(file.fileno())))
        except (IsADirectoryError, FileExistsError):
            raise FileError(409, "ResourceTypeMismatch", "There is a directory of this name.") from None

    async def _write_range(self, item: Item) -> web.StreamResponse:
        headers = item.request.headers
        match = _RANGE.fullmatch(headers.get("x-ms-range") or headers.get("Range") or "")
        if match is None or int(match[2]) < int(match[1]):
            raise FileError(400, "InvalidHeaderValue", "x-ms-range must be bytes=first-last")
        first, size = int(match[1]), int(match[2]) - int(match[1]) + 1
        clear = headers.get("x-ms-write") == "clear"
        body = b"" if clear else await item.request.read()
        if not clear and (len(body) != size or size > _LARGEST_RANGE):
            raise FileError(400, "InvalidHeaderValue", "The body must be as long as the range, 4 MiB at most")
        with not_found_as_404(), item.file(write=True) as file:
            if first + size > os.fstat(file.fileno()).st_size:
                raise FileError(416, "InvalidRange", "The range lies beyond the file.")
            file.seek(first)
            file.write(bytes(size) if clear else body)
            file.flush()
            return web.Response(status=201, headers=headers_of(os.fstat(file.fileno())))

    async def _read_file(self, item: Item) -> web.StreamResponse:
        with not_found_as_404():
            file = item.file()
        with file:
            if item.request.method == "HEAD":
                status = os.fstat(file.fileno())
                headers = {"Content-Length": str(status.st_size), "x-ms-type": "File"}
                return web.Response(status=200, headers=headers_of(status) | headers)
            return await answer_file(item.request, file, storage_range(item.request))

    async def _delete_file(self, item: Item) -> web.StreamResponse:
        with not_found_as_404(), item.parent() as (parent, name):
            os.unlink(name, dir_fd=parent)
        return web.Response(status=202)


def _parts(request: web.Request) -> list[str]:
    return [part for part in request[_PATH].split("/") if part]


def _operation(request: web.Request) -> str:
    """The operation of a request: the method, the kind of resource, and the part of it."""
    kind = request.query.get("restype") or ("share" if len(_parts(request)) < 2 else "file")
    method = "GET" if request.method == "HEAD" else request.method
    return " ".join(filter(None, (method, kind, request.query.get("comp"))))
