"""Output directories of jobs: their listing, and signed addresses that serve a file for a while."""

import hashlib
import hmac
import os
import posixpath
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote_to_bytes

from aiohttp import web

from confined import Confined
from confined.entries import Entry
from confined.names import Names
from local.batchai.files.signature import matches
from local.batchai.launch.layout import STDOUTERR, USAGE, asks_for_usage, segment
from local.batchai.state.errors import ArmError, invalid
from local.batchai.state.models import Job
from local.batchai.state.moment import stamp
from local.batchai.state.settings import Settings
from local.file_answer import answer_file, storage_range
from local.names import is_name, shown

PREFIX = "/download/"
_LONGEST_PATH = 2048


class Location(NamedTuple):
    """The root that a path lies below, and its place as addresses have it."""

    root: Path
    url: str


class Downloads:
    """Signs addresses of files below the shares and mirrors, and serves them until they expire."""

    def __init__(self, settings: Settings, names: Names | None = None) -> None:
        self._roots = {
            "shares": settings.shares,
            "blobs": settings.blobs,
            "servers": settings.servers,
        }
        self._key = _own_key(settings.data / "download.key")
        #: those of large directories, from one page of a list to the next
        self.names = names or Names()

    def url(self, base: str, path: str, expires: datetime) -> str:
        """The address of a file by its path, valid until then. It reads like a SAS: se, sp, sr, sig."""
        end = f"{expires:%Y-%m-%dT%H:%M:%SZ}"
        signature = quote(self._sign(path, end), safe="")
        return f"{base}{PREFIX}{quote(path)}?sr=f&sp=r&se={quote(end)}&sig={signature}"

    async def serve(self, request: web.Request, now: datetime) -> web.StreamResponse:
        """The file of a signed address, or the requested range of it."""
        path = request.match_info["path"]
        end = request.query.get("se", "")
        if not matches(request.query.get("sig", ""), self._sign(path, end)):
            raise ArmError(403, "AuthenticationFailed", "The signature of the address does not fit.", "sig")
        if datetime.strptime(end, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) < now:
            raise ArmError(403, "AuthenticationFailed", "The address has expired.", "se")
        try:
            name, _, rest = path.partition("/")
            with Confined.from_root(self._roots[name]) as root:
                file = root.file(rest, links=False)
        except OSError:
            raise ArmError(404, "ResourceNotFound", "The file no longer exists.") from None
        with file:
            return await answer_file(request, file, storage_range(request))

    def locate(self, path: Path) -> Location:
        """The root of a path that is served, and the path below it as addresses have it."""
        return next(
            Location(root, f"{name}/{path.relative_to(root.resolve()).as_posix()}")
            for name, root in self._roots.items()
            if path.is_relative_to(root.resolve())
        )

    def _sign(self, path: str, end: str) -> str:
        return hmac.new(self._key, f"{path}\n{end}".encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Page:
    """Names of a directory: `most` of them after one; the name is as addresses have it."""

    after: str
    most: int


class Entries(NamedTuple):
    """Entries of a directory, and the `after` of the next page, or ""."""

    entries: list[dict[str, Any]]
    next: str


def listing(
    job: Job, directory_id: str, inside: str, page: Page, sign: Callable[[str], str], downloads: Downloads
) -> Entries:
    """The entries of a directory of a job's output. Raises ArmError.

    A folder that does not exist is 404 on a share, as of the File service. In a container a folder is the
    start of names, so none of them makes an empty list.
    The job may have put links anywhere; a link that leaves the folder of its run is not followed. An entry
    that cannot be requested is listed as a file without an address. If it is not a file (such a link, a pipe,
    a socket, a device), or stands for further entries, it has no properties either.
    """
    real = _real_directory(job, directory_id)
    if real is None:  # the job has not mounted anything yet
        return Entries([], "")
    _check_inside(inside)
    above, own, below = real.partition(f"/{segment(job)}")
    root, url_of_file = downloads.locate(Path(above + own))
    after = os.fsdecode(unquote_to_bytes(page.after))
    try:
        with (
            Confined.from_root(root) as served,
            served.directory(url_of_file.partition("/")[2], links=False, display=own.strip("/")) as run,
        ):
            held = run.listing(f"{below}/{inside}", downloads.names, after, page.most)
    except (FileNotFoundError, NotADirectoryError):
        if url_of_file.startswith("blobs/") or posixpath.normpath(inside) == ".":
            return Entries([], "")
        message = "The specified resource does not exist."
        raise ArmError(404, "ResourceNotFound", message, "directory") from None
    except OSError:  # a link that leads out, or one too many on the way
        return Entries([], "")
    listed = [_entry(entry, lambda path: sign(f"{url_of_file}/{path}")) for entry in held.entries]
    if held.more:
        listed.append({"name": downloads.names.rest, "fileType": "file"})
    return Entries(listed, quote(os.fsencode(held.next), safe=""))


def _real_directory(job: Job, directory_id: str) -> str | None:
    """The path of a job's output directory, if it is mounted. Raises ArmError if there is no such id."""
    ids = [STDOUTERR, *(entry["id"] for entry in job.document.get("outputDirectories", ()))]
    ids += [USAGE] if asks_for_usage(job.document) else []
    real = job.outputs.get(directory_id)
    if directory_id not in ids or real == "":
        raise invalid(
            f"The specified outputDirectoryId {directory_id} is not present on a mount root",
            "outputdirectoryid",
            "OutputDirectoryNotFound",
        )
    return real


def _check_inside(path: str) -> None:
    """Raises ArmError if a path cannot lead to a directory in an output directory."""
    names = [part for part in path.split("/") if part not in ("", ".", "..")]
    if len(path) > _LONGEST_PATH:
        message = f"A path has at most {_LONGEST_PATH:,} characters, as of the File service."
        raise invalid(message, "directory", "InvalidParameter")
    if not all(map(is_name, names)):
        raise invalid("Is not the name of a directory.", "directory", "InvalidParameter")
    if posixpath.normpath(path).partition("/")[0] in ("..", ""):
        raise invalid("The directory must lie in the output directory.", "directory", "InvalidParameter")


def _entry(entry: Entry, url: Callable[[str], str]) -> dict[str, Any]:
    name = entry.name if is_name(entry.name) else shown(entry.name)
    if entry.kind == "directory":
        return {"name": name, "fileType": "directory"}
    if entry.kind != "file":
        return {"name": name, "fileType": "file"}
    is_served = all(map(is_name, (entry.name, *entry.path.split("/"))))
    return {
        "name": name,
        "fileType": "file",
        **({"downloadUrl": url(entry.path)} if is_served else {}),
        "properties": {
            "lastModified": stamp(datetime.fromtimestamp(entry.modified, UTC)),
            "contentLength": entry.size,
        },
    }


def _own_key(file: Path) -> bytes:
    if not file.exists():
        file.touch(mode=0o600)
        file.write_bytes(secrets.token_bytes(32))
    return file.read_bytes()
