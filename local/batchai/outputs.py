"""Output directories of jobs: their listing, and signed addresses that serve a file for a while."""

import hashlib
import hmac
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aiohttp import web

from local.batchai import views
from local.batchai.errors import ArmError, invalid
from local.batchai.layout import STDOUTERR
from local.batchai.ranges import answer_file
from local.batchai.records import Job
from local.batchai.settings import Settings

PREFIX = "/download/"


class Downloads:
    """Signs addresses of files below the shares and mirrors, and serves them until they expire."""

    def __init__(self, settings: Settings) -> None:
        self._roots = {
            "shares": settings.shares,
            "blobs": settings.blobs,
            "servers": settings.servers,
        }
        self._key = _own_key(settings.data / "download.key")

    def url(self, base: str, file: Path, expires: datetime) -> str:
        """The address of a file, valid until then. It reads like a SAS: se, sp, sr, sig."""
        path = next(
            f"{name}/{file.relative_to(root.resolve()).as_posix()}"
            for name, root in self._roots.items()
            if file.is_relative_to(root.resolve())
        )
        end = f"{expires:%Y-%m-%dT%H:%M:%SZ}"
        signature = quote(self._sign(path, end), safe="")
        return f"{base}{PREFIX}{quote(path)}?sr=f&sp=r&se={quote(end)}&sig={signature}"

    async def serve(self, request: web.Request, now: datetime) -> web.StreamResponse:
        """The file of a signed address, or the range of it that was asked for."""
        path = request.match_info["path"]
        end = request.query.get("se", "")
        if not hmac.compare_digest(self._sign(path, end), request.query.get("sig", "")):
            raise ArmError(403, "AuthenticationFailed", "The signature of the address does not fit.", "sig")
        if datetime.strptime(end, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) < now:
            raise ArmError(403, "AuthenticationFailed", "The address has expired.", "se")
        name, _, rest = path.partition("/")
        file = (self._roots[name] / rest).resolve()
        if not self.serves(file) or not file.is_file():
            raise ArmError(404, "ResourceNotFound", "The file is not there any more.")
        return await answer_file(request, file)

    def serves(self, file: Path) -> bool:
        """Whether a resolved path lies where files may be fetched from."""
        return any(file.is_relative_to(root.resolve()) for root in self._roots.values())

    def _sign(self, path: str, end: str) -> str:
        return hmac.new(self._key, f"{path}\n{end}".encode(), hashlib.sha256).hexdigest()


def listing(
    job: Job, directory_id: str, inside: str, downloads: Downloads, base: str, minutes: int, now: datetime
) -> list[dict[str, Any]]:
    """The entries of a directory of a job's output, by name. Raises ArmError."""
    known = [STDOUTERR, *(entry["id"] for entry in job.document.get("outputDirectories", ()))]
    real = job.outputs.get(directory_id)
    if directory_id not in known or real == "":
        raise invalid(
            f"The specified outputDirectoryId {directory_id} is not present on a mount root",
            "outputdirectoryid",
            "OutputDirectoryNotFound",
        )
    if real is None:  # the job has not mounted anything yet
        return []
    root = Path(real)
    directory = (root / inside).resolve()
    if not directory.is_relative_to(root):
        raise invalid("The directory must lie in the output directory.", "directory", "InvalidParameter")
    if not directory.is_dir():
        return []
    expires = now + timedelta(minutes=minutes)
    entries = (_entry(entry, downloads, base, expires) for entry in sorted(directory.iterdir()))
    return [entry for entry in entries if entry is not None]


def _entry(path: Path, downloads: Downloads, base: str, expires: datetime) -> dict[str, Any] | None:
    if path.is_dir():
        return {"name": path.name, "fileType": "directory"}
    file = path.resolve()
    if not file.is_file() or not downloads.serves(file):
        return None
    stat = file.stat()
    return {
        "name": path.name,
        "fileType": "file",
        "downloadUrl": downloads.url(base, file, expires),
        "properties": {
            "lastModified": views.stamp(datetime.fromtimestamp(stat.st_mtime, UTC)),
            "contentLength": stat.st_size,
        },
    }


def _own_key(file: Path) -> bytes:
    if not file.exists():
        file.touch(mode=0o600)
        file.write_bytes(secrets.token_bytes(32))
    return file.read_bytes()
