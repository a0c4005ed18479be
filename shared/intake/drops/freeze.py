"""freeze: one archive of a dropped folder, of the versions that were listed: its job runs that, and no edit.

The request stays out of it: `job.json`, `slipway.json`, hidden files, and folders below that are drops of
their own. A job file that mounts the container of drops itself runs what lies there when an attempt starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from typing import NamedTuple

from shared.core.code.record import Code
from shared.core.each import each
from shared.core.errors import Misuse
from shared.core.ports import Blob, Ports
from shared.core.refusals import refused
from shared.intake.candidate import Candidate
from shared.intake.drops.contents import Whole, contents_of
from shared.intake.drops.folder import ENVELOPE_FILE, JOB_FILE
from shared.intake.drops.plan import Plan
from shared.jobspec import DROP_MOUNT, JsonObject, Problem, has_errors, level_flaw, mounts_drops, quote
from shared.snapshots.pack import SAMPLE, SAMPLES, Packed, Packer, order, shrinks

#: The most files of a drop, each of which costs a request, and their bytes.
MOST_FILES, MOST_BYTES = 500, 64 << 20
#: Bytes of a path below the mount root: a node's 4,096, less those of the root.
_LONGEST_PATH = 4_000
#: The folder of these archives, which no caller can name.
_SCOPE = "drops"
#: How many files a refusal names.
_NAMED = 3
_REQUEST = (JOB_FILE, ENVELOPE_FILE)


class FilesOfRun(NamedTuple):
    """The files that a drop brings, by their names in the archive, and where it is unpacked."""

    at: str
    files: Mapping[str, Blob]


def _files_of(plan: Plan, files: Whole) -> FilesOfRun:
    """What a run brings: its folder, and at their paths the scripts that it names elsewhere."""
    request = {f"{plan.folder}{name}" for name in _REQUEST}
    elsewhere = [blob for blob in plan.scripts if not blob.name.startswith(plan.folder)]
    blobs = {
        blob.name: blob
        for blob in (*files.blobs, *elsewhere)
        if not blob.archived and blob.name not in request
    }
    # Storage has a file beside a folder of the same name; a disk does not.
    folders = {above for name in blobs for above in _folders_above(name)}
    blobs = {name: blob for name, blob in blobs.items() if name not in folders}
    if elsewhere or not plan.folder:
        return FilesOfRun(DROP_MOUNT, blobs)
    short = {name[len(plan.folder) :]: blob for name, blob in blobs.items()}
    return FilesOfRun(f"{DROP_MOUNT}/{plan.folder.rstrip('/')}", short)


def _folders_above(name: str) -> list[str]:
    levels = name.split("/")
    return ["/".join(levels[:end]) for end in range(1, len(levels))]


def flaw_of(plan: Plan, files: Whole) -> Problem | None:
    """Why the files of a run cannot be frozen, if they cannot: they are too many, or have too long a path."""
    place, own = _files_of(plan, files)
    if excess := _excess(own, cut=files.cut):
        return refused("SW117", "", excess, _WAYS_OUT)
    if flaw := next(filter(None, (_path_flaw(f"{place}/{name}") for name in own)), ""):
        return refused("SW117", "", flaw, "give it a shorter name")
    return None


class Freezer:
    """The files of one folder, as they were listed; runs that bring the same are frozen once."""

    def __init__(self, ports: Ports, files: Whole) -> None:
        self._ports, self._files = ports, files
        #: what stands in the memo of a run that was refused for its files, under the name that no file has
        self.judged = {"": f"{contents_of(files.blobs).digest}{'+' * files.cut}"}
        self._codes = dict[tuple[str, ...], asyncio.Task[Code | None]]()

    def foreseen(self, plan: Plan, candidate: Candidate) -> Candidate:
        """The candidate with what its code would be, without a digest. Reads and writes nothing."""
        if is_live(self._ports, candidate.request.document):
            return candidate
        if flaw := flaw_of(plan, self._files):
            return self._refused(candidate, flaw)
        place, files = _files_of(plan, self._files)
        size = sum(blob.size for blob in files.values())
        code = Code(scope=_SCOPE, sha256="", bytes=size, files=len(files), at=place, origin="drop")
        return _with_code(candidate, code)

    async def freeze(
        self, plan: Plan, candidate: Candidate, contents: Mapping[str, bytes]
    ) -> Candidate | None:
        """The candidate with its code, which is stored then. None when a file changed since it was listed.

        `contents`: of files that were read. Raises Unavailable. Costs a request for each other file, and one
        to store the archive.
        """
        candidate = self.foreseen(plan, candidate)
        code = candidate.request.code
        if code is None or has_errors(candidate.request.problems):
            return candidate
        _, files = _files_of(plan, self._files)
        names = tuple(sorted(files, key=order))
        if names not in self._codes:
            self._codes[names] = asyncio.create_task(self._stored(code, names, files, contents))
        try:
            frozen = await self._codes[names]
        except Misuse as error:
            return self._refused(candidate, refused("SW107", "", str(error), error.remedy))
        return _with_code(candidate, frozen) if frozen is not None else None

    def _refused(self, candidate: Candidate, problem: Problem) -> Candidate:
        """The candidate with a problem of its files: once any of them changes, it is judged again."""
        request, drop = candidate.request, candidate.drop
        request = replace(request, code=None, problems=(*request.problems, problem))
        if drop is not None:
            drop = drop.model_copy(update={"etags": {**drop.etags, **self.judged}})
        return replace(candidate, request=request, drop=drop)

    async def _stored(
        self, code: Code, names: tuple[str, ...], files: Mapping[str, Blob], contents: Mapping[str, bytes]
    ) -> Code | None:
        async def read(name: str) -> bytes | None:
            blob = files[name]
            if blob.name in contents:
                return contents[blob.name]
            content = await self._ports.drops.read(blob.name, etag=blob.etag, limit=MOST_BYTES)
            return content.data if content is not None else None

        read_files = [data for data in await each(names, read) if data is not None]
        if len(read_files) < len(names):
            return None
        archive = await asyncio.to_thread(_packed, dict(zip(names, read_files, strict=True)))
        code = code.model_copy(update=archive.packed._asdict())
        await self._ports.snapshots.put(code.blob, archive.data)
        return code


def is_live(ports: Ports, document: JsonObject | None) -> bool:
    """Whether there is nothing to freeze: no job, or one that mounts what it runs itself."""
    return document is None or mounts_drops(document, ports.policy.completion)


class _Archive(NamedTuple):
    data: bytes
    packed: Packed


def _packed(contents: Mapping[str, bytes]) -> _Archive:
    """Each file may be executed, as it may be where the container is mounted."""
    largest = sorted(contents.values(), key=len, reverse=True)[:SAMPLES]
    out = BytesIO()
    packer = Packer(out, compress=shrinks((len(data), data[:SAMPLE]) for data in largest))
    for name, data in contents.items():
        packer.file(name, BytesIO(data), len(data), executable=True)
    packed = packer.finish()
    return _Archive(out.getvalue(), packed)


#: What to do about a folder that is too large for a drop.
_WAYS_OUT = (
    "send the folder by `slipway run`, put data into a container that jobs mount (`slipway data put`), "
    "or mount the container of drops in the job file"
)


_LIMIT = f"{MOST_FILES} with {MOST_BYTES >> 20}.0 MiB"


def _excess(files: Mapping[str, Blob], *, cut: bool) -> str:
    """What is said of a folder that is too large for a drop; "" for any other.

    `cut`: not all of its files were listed, so that an archive would lack some.
    """
    size = sum(blob.size for blob in files.values())
    if len(files) <= MOST_FILES and size <= MOST_BYTES:
        return (
            f"the folder has more files, or folders below it, than a drop may have ({_LIMIT})" if cut else ""
        )
    largest = sorted(files.items(), key=lambda one: -one[1].size)[:_NAMED]
    named = ", ".join(f"{quote(name, 100)} ({_mebibytes(blob.size)})" for name, blob in largest)
    return (
        f"the folder has {len(files):,} files with {_mebibytes(size)}, and a drop may have {_LIMIT}; "
        f"the largest are {named}"
    )


def _path_flaw(path: str) -> str:
    """What is said of a file that no node can unpack at this path below its mount root; "" of any other."""
    flaw, length = level_flaw(path), len(path.encode())
    if not flaw and length > _LONGEST_PATH:
        flaw = f"has a path of {length:,} bytes on the nodes, which take {_LONGEST_PATH:,}"
    return f"the file {quote(path, 200)} {flaw}" if flaw else ""


def _mebibytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"


def _with_code(candidate: Candidate, code: Code) -> Candidate:
    return replace(candidate, request=replace(candidate.request, code=code))
