"""Upload a folder to the drop container, its scripts first and its job.json last."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import SEEK_END, BufferedReader, BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from shared.adapters.storage.drops import BlobDrops
from shared.adapters.storage.wire.listed_blob import is_folder
from shared.intake.drops.folder import ENVELOPE_FILE, JOB_FILE, ignored
from shared.jobspec import Source, has_errors, name_flaw, report
from shared.settings import Settings
from slipway.client.files.save import MARK
from slipway.client.ignore_file import NAME as IGNORE_FILE
from slipway.client.ignore_file import IgnoreFile
from slipway.client.storage import storage_account
from slipway.commands.document.diagnose import diagnosed, scripts_named
from slipway.commands.waiting import Outlook, outlook
from slipway.failure import Failure
from slipway.folder_drops import DropsToBe
from slipway.screen import say
from slipway.terminal import printable

if TYPE_CHECKING:
    from azure.storage.blob.aio import ContainerClient

#: The file that completes a drop is uploaded last, so that an incomplete one is not accepted.
_LAST = (ENVELOPE_FILE, JOB_FILE)
#: Bytes of a file that is read whole, and so never while it changes; a larger one is read as it is sent.
_WHOLE = 16 << 20


def check(folder: Path, target: str) -> None:
    """Raise Failure, with every problem, for a job.json that cannot run: then nothing is uploaded.

    The same applies if the job would run the files of another upload, not those that go to `target`.
    """
    for file in (folder / "slipway.json", folder / "job.json"):
        problems = diagnosed(Source(file.read_bytes()), file) if file.is_file() else ()
        if has_errors(problems):
            shown = report.text(report.problems_as_json(problems), str(file)).rstrip()
            raise Failure(f"nothing was uploaded, because the job cannot run\n{shown}")
    if not file.is_file():
        return  # scripts for a template
    own = f"{folder.resolve().name}/"
    for name in () if f"{target}/" == own else scripts_named(file, target):
        if name.startswith(own) and (folder / (path := name.removeprefix(own))).is_file():
            raise Failure(
                f"nothing was uploaded: {path} would go to {target}/, and the job.json runs {name}, of "
                f"another upload; write <SLIPWAY_FOLDER>/{path} there"
            )


@dataclass
class Uploaded:
    """The blobs of a folder: SHA-256 of each by its name in the container, and how many had to be sent."""

    container: str
    digests: dict[str, str] = field(default_factory=dict)
    number: int = 0
    #: the version of the last one, which completes the drop
    etag: str = ""
    #: the versions of all that were sent
    etags: dict[str, str] = field(default_factory=dict)
    #: what is in the folder of the container and not in this upload, where that was looked at
    others: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the blobs, each after its container."""
        return [f"{self.container}/{name}" for name in self.digests]


async def upload(
    settings: Settings,
    folder: Path,
    to: str = "",
    *,
    changed: bool = False,
    own_envelope: bool = False,
    remarks: bool = True,
) -> Uploaded:
    """Upload the folder's files under `to` (default: its name), replacing blobs. Raises Failure.

    With `changed`, a file whose blob has the same size and MD5 stays as it is, unless it begins a job, and
    the other blobs of the folder are noted; with `own_envelope`, too, a slipway.json of an earlier upload is
    deleted, before the job.json goes up. `remarks` are those of `to_upload`.
    """
    from azure.storage.blob import ContentSettings

    files, target = to_upload(folder, remarks=remarks), target_of(folder, to)
    uploaded = Uploaded(settings.text("SLIPWAY_DROP_CONTAINER"))
    async with storage_account(settings) as account:
        container = account.blobs.get_container_client(uploaded.container)
        contents = await _contents(container, f"{target}/") if changed else {}
        for file in files:
            name, large = f"{target}/{file.relative_to(folder).as_posix()}", file.stat().st_size > _WHOLE
            with file.open("rb") if large else BytesIO(file.read_bytes()) as data:
                uploaded.digests[name] = await asyncio.to_thread(_sha256, data)
                md5, size = await asyncio.to_thread(_md5, data), data.seek(0, SEEK_END)
                if file.name not in _LAST and contents.get(name) == (size, md5):
                    continue
                if name == f"{target}/{JOB_FILE}" and own_envelope:  # earlier, what lies there could begin
                    await _remove_envelope(container, target, contents, uploaded)
                content = ContentSettings(content_md5=bytearray(md5))
                blob = container.get_blob_client(name)
                data.seek(0)
                answer = await blob.upload_blob(data, length=size, overwrite=True, content_settings=content)
                uploaded.number, uploaded.etag = uploaded.number + 1, str(answer["etag"]).strip('"')
                uploaded.etags[name] = uploaded.etag
    uploaded.others = tuple(sorted(name for name in {*contents} - {*uploaded.digests} if not ignored(name)))
    return uploaded


async def _remove_envelope(
    container: "ContainerClient", target: str, contents: dict[str, tuple[int, bytes]], uploaded: Uploaded
) -> None:
    """Delete the slipway.json of an earlier upload, which would set this job's dependencies and receivers."""
    from azure.core.exceptions import ResourceNotFoundError

    name = f"{target}/{ENVELOPE_FILE}"
    if name in uploaded.digests or contents.pop(name, None) is None:
        return
    with suppress(ResourceNotFoundError):
        await container.delete_blob(name)
    say(f"deleted {uploaded.container}/{name} of an earlier upload, which this folder does not have")


def _sha256(data: BytesIO | BufferedReader) -> str:
    data.seek(0)
    return hashlib.file_digest(data, "sha256").hexdigest()


def _md5(data: BytesIO | BufferedReader) -> bytes:
    data.seek(0)
    return hashlib.file_digest(data, lambda: hashlib.md5(usedforsecurity=False)).digest()


def runs_the_same(job: Mapping[str, Any], folder: Path, target: str) -> bool:
    """Whether the files with which a job was accepted equal the folder's files of the same names."""
    for one in job.get("drop", {}).get("files", ()):
        file = folder / str(one["name"]).removeprefix(f"{target}/")
        if str(one["name"]).startswith(f"{target}/") and file.is_file():
            with file.open("rb") as data:
                if _sha256(data) != one["sha256"]:
                    return False
    return True


async def etag_of(settings: Settings, container: str, name: str) -> str:
    """The current version of a blob; "" if there is none."""
    from azure.core.exceptions import ResourceNotFoundError

    async with storage_account(settings) as account:
        try:
            properties = await account.blobs.get_blob_client(container, name).get_blob_properties()
        except ResourceNotFoundError:
            return ""
    return str(properties.etag).strip('"')


async def has_container(settings: Settings, name: str) -> bool:
    """Whether the storage account has a blob container of that name. Raises Failure."""
    async with storage_account(settings) as account:
        return await account.blobs.get_container_client(name).exists()


async def _contents(container: "ContainerClient", prefix: str) -> dict[str, tuple[int, bytes]]:
    """Size and MD5 of each blob that is a file; no bytes for one without."""
    return {
        blob.name: (blob.size, bytes(blob.content_settings.content_md5 or b""))
        async for blob in container.list_blobs(name_starts_with=prefix, include=["metadata"])
        if not is_folder(blob.metadata)
    }


def target_of(folder: Path, to: str) -> str:
    """The folder of the container that the files go to. Raises Failure for a folder that Slipway ignores."""
    target = to.strip("/") if to else folder.resolve().name  # of "." too
    flaw = name_flaw(target) or ("has an empty level" if "" in target.split("/") else "")
    if flaw := flaw or ("has a hidden level" if ignored(target) else ""):
        remedy = "name another one, e.g. --to team/digits"
        raise Failure(f"{printable(to or target)} is not a folder to drop into: it {flaw}; {remedy}")
    return target


def check_folder(folder: Path) -> None:
    """Raise Failure if it is not a folder."""
    if not folder.is_dir():
        raise Failure(f"{folder} is not a folder; name one with a script and a job.json")


def to_upload(folder: Path, *, remarks: bool = True) -> Sequence[Path]:
    """The files of a folder in the order in which to upload them, without those that `.slipwayignore` names.

    `remarks`: say which links to folders are left out. Raises Failure when there is no file.
    """
    check_folder(folder)
    ignore = IgnoreFile.of_folder(folder)
    for name in _LAST:
        if (folder / name).is_file() and ignore.fits(name):
            raise Failure(
                f"{folder / IGNORE_FILE} leaves out {name}, which says what runs; add the line !{name} to it"
            )
    for name in linked_folders(folder) if remarks else ():
        if not ignore.fits(name) and not _is_hidden(folder / name, folder):
            say(f"{name} is a link to a folder, whose files are not uploaded; put the folder itself there")
    results = {mark.parent for mark in folder.rglob(MARK)} - {folder}  # of earlier jobs, downloaded to here
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not _is_hidden(path, folder) and results.isdisjoint(path.parents)
    ]
    files = [path for path in files if not ignore.fits(path.relative_to(folder).as_posix())]
    if not files:
        hint = f" but what {IGNORE_FILE} leaves out" if (folder / IGNORE_FILE).is_file() else ""
        raise Failure(f"{folder} holds no files{hint}; put a script and a job.json there")
    return sorted(files, key=lambda path: (_rank(path), path))


def linked_folders(folder: Path) -> list[str]:
    """The links to folders in a folder, which uploads do not follow."""
    links = (path for path in folder.rglob("*") if path.is_symlink() and path.is_dir())
    return sorted(path.relative_to(folder).as_posix() for path in links)


async def outlook_of(
    settings: Settings, names: Sequence[str], contents: Mapping[str, bytes] = MappingProxyType({})
) -> Outlook:
    """The outlook of a folder that was or will be uploaded as these blobs, with these contents."""
    drops, answers = settings.text("SLIPWAY_DROP_CONTAINER"), settings.text("SLIPWAY_ANSWERS_CONTAINER")
    async with storage_account(settings) as account:
        blobs = BlobDrops(account, drops, answers, ())
        if contents:
            return await outlook(settings, DropsToBe(contents, drops, blobs), names)
        return await outlook(settings, blobs, [name.partition("/")[2] for name in names])


def _rank(path: Path) -> int:
    return _LAST.index(path.name) + 1 if path.name in _LAST else 0


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(folder).parts)
