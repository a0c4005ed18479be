"""The files that a run brings, by their names in its archive, and why they cannot be frozen. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from shared.core.ports import Blob
from shared.core.refusals import refused
from shared.intake.drops.contents import Whole
from shared.intake.drops.folder import ENVELOPE_FILE, JOB_FILE
from shared.intake.drops.plan import Plan
from shared.jobspec import DROP_MOUNT, Problem, is_met_by, level_flaw, quote

#: The most files of a drop, each of which costs a request, and their bytes.
MOST_FILES, MOST_BYTES = 500, 64 << 20
#: Bytes of a path below the mount root: a node's 4,096, less those of the root.
_LONGEST_PATH = 4_000
#: How many files a refusal names.
_NAMED = 3
_LIMIT = f"{MOST_FILES} with {MOST_BYTES >> 20}.0 MiB"
#: What to do about a folder that is too large for a drop.
_WAYS_OUT = (
    "send the folder by `slipway run`, put data into a container that jobs mount (`slipway data put`), "
    "or, where jobs have no teams, mount the container of drops in the job file"
)
_REQUEST = (JOB_FILE, ENVELOPE_FILE)


class FilesOfRun(NamedTuple):
    """The files that a drop brings, by their names in the archive, and where it is unpacked."""

    at: str
    files: Mapping[str, Blob]
    #: the names of files that have that of a folder: storage has both, and a disk does not
    beside: tuple[str, ...] = ()


def files_of(plan: Plan, files: Whole) -> FilesOfRun:
    """What a run brings: its folder, and at their paths the scripts that it names elsewhere."""
    elsewhere = [blob for blob in plan.scripts if not blob.name.startswith(plan.folder)]
    if elsewhere or not plan.folder:
        return files_of_folder(plan.folder, [*files.blobs, *elsewhere], DROP_MOUNT, "")
    return files_of_folder(plan.folder, files.blobs, f"{DROP_MOUNT}/{plan.folder.rstrip('/')}", plan.folder)


def files_of_folder(folder: str, files: Sequence[Blob], at: str, top: str) -> FilesOfRun:
    """The files of a folder and others, without its request; their names in the archive are below `top`."""
    request = {f"{folder}{name}" for name in _REQUEST}
    blobs = {blob.name: blob for blob in files if not blob.archived and blob.name not in request}
    folders = {above for name in blobs for above in _folders_above(name)}
    beside = tuple(name.removeprefix(folder) for name in blobs if name in folders)
    named = {name[len(top) :]: blob for name, blob in blobs.items() if name not in folders}
    return FilesOfRun(at, named, beside)


def _folders_above(name: str) -> list[str]:
    levels = name.split("/")
    return ["/".join(levels[:end]) for end in range(1, len(levels))]


def flaw_of(plan: Plan, files: Whole) -> Problem | None:
    """Why the files of a run cannot be frozen, if they cannot: they are too many, or have too long a path."""
    return flaw_in(plan, files_of(plan, files), (), cut=files.cut)


def flaw_in(plan: Plan, own: FilesOfRun, needs: Collection[str], *, cut: bool) -> Problem | None:
    """The same for files of which it is known which run brings them; `needs`: those of its slipway.json."""
    return refusal_of(own.at, own.files, cut=cut) or _lacking(plan, needs, own)


def refusal_of(place: str, files: Mapping[str, Blob], *, cut: bool) -> Problem | None:
    """The problem of files that are too large for an archive, or cannot be unpacked at a place."""
    if excess := _excess(files, cut=cut):
        return refused("SW117", "", excess, _WAYS_OUT)
    if flaw := next(filter(None, (_path_flaw(f"{place}/{name}") for name in files)), ""):
        return refused("SW117", "", flaw, "give it a shorter name")
    return None


def _lacking(plan: Plan, needs: Collection[str], own: FilesOfRun) -> Problem | None:
    """The problem of a file that is left out for its name, and without which the job is not to begin."""
    names = [blob.name.removeprefix(plan.folder) for blob in own.files.values()]
    needed = {script.name.removeprefix(plan.folder) for script in plan.scripts}
    for need in needs:
        if not any(is_met_by(need, name) for name in names):
            needed |= {name for name in own.beside if is_met_by(need, name)}
    if not (without := sorted(needed.intersection(own.beside))):
        return None
    name = quote(without[0], 200)
    text = f"the job needs the file {name}, and a folder has the same name: no node has both"
    return refused("SW117", "", text, "give one of them another name")


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
