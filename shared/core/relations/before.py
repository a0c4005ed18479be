"""What a job may read of the jobs that had to end before it: variables that name their directories. Pure.

`SLIPWAY_AFTER_<n>` is the id of the n-th job that it waited for, `SLIPWAY_AFTER_<n>_<ID>` the path of its
output directory of that id, `SLIPWAY_AFTER_<n>_STDOUTERR` that of its logs, and `SLIPWAY_AFTER_<n>_SAVED`
that of what it saved. A directory that this job does not reach has no variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from shared.core.relations.contents import Target

#: How their names begin.
AFTER = "SLIPWAY_AFTER_"
#: The id of the directory with the logs, as it stands in a variable, and in the file system.
_LOGS, _LOGS_FOLDER = "STDOUTERR", "stdouterr"
_JOB_ROOT, _CLUSTER_ROOT = "AZ_BATCHAI_JOB_MOUNT_ROOT", "AZ_BATCHAI_MOUNT_ROOT"
_ROOTED = re.compile(rf"\$(?:\{{({_JOB_ROOT}|{_CLUSTER_ROOT})\}}|({_JOB_ROOT}|{_CLUSTER_ROOT}))(?=/|$)(.*)")
#: What does not tell one volume from another.
_NOT_OF_VOLUME = frozenset(("relativeMountPath", "credentials", "mountOptions", "fileMode", "directoryMode"))


class Output(NamedTuple):
    """An output directory of an earlier job."""

    variable: str
    #: as the files of a job have it: `stdouterr`, or the id of an output directory
    id: str
    #: its path for this job; "" if no volume of this job has it
    path: str
    #: whether a volume has it that the earlier job mounted itself
    is_mounted: bool


class Before(NamedTuple):
    """A job that had to end before this one, by its last attempt."""

    number: int
    target: Target
    #: the folders between a path prefix and its output
    segment: str
    outputs: tuple[Output, ...]
    #: the prefix of its logs, as a path for this job; "" if no volume of this job has it
    prefix: str = ""
    #: whether its cluster has not forgotten it
    is_known: bool = False

    @property
    def saved(self) -> str:
        """The variable with the directory of what it saved; "" for none, as where an output has that name."""
        name = f"{AFTER}{self.number}_SAVED"
        return name if self.is_known and all(one.variable != name for one in self.outputs) else ""


def before(
    number: int,
    target: Target,
    segment: str,
    written: Mapping[str, Any],
    document: Mapping[str, Any],
    cluster: str,
) -> Before:
    """An earlier job, whose document is `written`, for a job with this document on this cluster.

    What is below `$AZ_BATCHAI_MOUNT_ROOT` is the same on one cluster only; what the earlier job mounted
    itself is where this one mounts the same volume.
    """
    volumes, ours = _volumes(written), _volumes(document)
    is_near = target.cluster == cluster
    outputs, prefixes = [], dict[str, str]()
    for name, identity, prefix, below in _directories(written):
        place = _place(prefix, volumes, ours, is_near=is_near)
        path = f"{place.path}/{segment}/{below}" if place.path else ""
        outputs.append(Output(f"{AFTER}{number}_{name}", identity, path, place.is_mounted))
        prefixes[identity] = place.path
    return Before(number, target, segment, tuple(outputs), prefixes[_LOGS_FOLDER])


class _Place(NamedTuple):
    """Where a prefix of the earlier job is for this one, or ""; whether a volume of that job has it."""

    path: str
    is_mounted: bool


def _place(prefix: str, volumes: Mapping[str, Any], ours: Mapping[str, Any], *, is_near: bool) -> _Place:
    root, rest = _rooted(prefix.rstrip("/"))
    if root == _JOB_ROOT and (mounted := _mounted(rest, volumes)):
        place = next((place for place, volume in ours.items() if volume == mounted.volume), None)
        return _Place(f"${_JOB_ROOT}/{place}{mounted.rest}" if place is not None else "", True)
    return _Place(prefix.rstrip("/") if is_near and root in (_CLUSTER_ROOT, "/") else "", False)


def variables(earlier: tuple[Before, ...]) -> dict[str, str]:
    """The variables with the paths that this job reaches."""
    return {one.variable: one.path for job in earlier for one in job.outputs if one.path}


def _directories(written: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """The name in a variable, the id, the prefix, and the path below the folder of a run.

    An output directory that is called as the logs are takes their place.
    """
    properties = written.get("properties") or {}
    yield _LOGS, _LOGS_FOLDER, str(properties.get("stdOutErrPathPrefix") or ""), _LOGS_FOLDER
    for one in properties.get("outputDirectories") or ():
        below = f"outputs/{one.get('pathSuffix') or ''}".rstrip("/")
        if "$" not in below:  # else by a variable of that job
            yield one["id"], one["id"], str(one["pathPrefix"]), below


class _Rooted(NamedTuple):
    root: str
    rest: str


def _rooted(prefix: str) -> _Rooted:
    """The variable that a prefix begins with, "/" for none, and what follows; nothing for another one."""
    match = _ROOTED.fullmatch(prefix)
    root, rest = (match[1] or match[2], match[3]) if match else (prefix[:1], prefix)
    return _Rooted("", "") if "$" in rest else _Rooted(root, rest)


class _Mounted(NamedTuple):
    volume: Any
    rest: str


def _mounted(rest: str, volumes: Mapping[str, Any]) -> _Mounted | None:
    """The volume of a path below the mounts of a job, the one mounted deepest, and the path in it."""
    places = [place for place in volumes if f"{rest}/".startswith(f"/{place}/")]
    if not places:
        return None
    place = max(places, key=len)
    return _Mounted(volumes[place], rest[len(place) + 1 :])


def _volumes(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a document mounts, by its place: the kind of volume, and what tells it from others."""
    mounts = (document.get("properties") or {}).get("mountVolumes") or {}
    return {
        str(one["relativeMountPath"]).strip("/"): (
            kind,
            {name: value for name, value in one.items() if name not in _NOT_OF_VOLUME and value is not None},
        )
        for kind, several in mounts.items()
        for one in several or ()
    }
