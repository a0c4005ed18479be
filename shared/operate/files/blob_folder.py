"""The storage folder of a job's output, from its job file and the folders that its cluster named. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from shared.core.job import Job
from shared.core.ports import BlobFolder
from shared.jobspec import MOUNT_LISTS

_PREFIX = re.compile(r"\$(?:AZ_BATCHAI_JOB_MOUNT_ROOT|\{AZ_BATCHAI_JOB_MOUNT_ROOT\})/([^$`\\]*)")
_BLOBS = "azureBlobFileSystems"


class _Output(NamedTuple):
    """The path prefix of an output directory ("" for none), and its path after the job's folders."""

    prefix: str
    below: tuple[str, ...]


def folder_of(job: Job, document: Mapping[str, Any], directory: str, account: str) -> BlobFolder | None:
    """The folder of an output directory in this account; None unless its files are surely blobs there.

    They are if the job itself mounts the container. The path contains folders that only this attempt has, so
    the files below were written by it, or by people who may write there anyway.
    """
    properties = document.get("properties") or {}
    output = _output(properties, directory)
    match = _PREFIX.fullmatch(output.prefix)
    if match is None or not job.segment or not account:
        return None
    path = "/".join(_levels(match[1]))
    at, mount = max(_mounts(properties, path), default=("", None), key=lambda one: len(one[0]))
    if mount is None or mount.get("accountName") != account or not mount.get("containerName"):
        return None
    levels = _levels("/".join((path.removeprefix(at), job.segment, *output.below)))
    return BlobFolder(str(mount["containerName"]), "/".join(levels)) if ".." not in levels else None


def _output(properties: Mapping[str, Any], directory: str) -> _Output:
    if directory == "stdouterr":
        return _Output(str(properties.get("stdOutErrPathPrefix") or ""), ("stdouterr",))
    for one in properties.get("outputDirectories") or ():
        if one.get("id") == directory:
            return _Output(str(one.get("pathPrefix") or ""), ("outputs", str(one.get("pathSuffix") or "")))
    return _Output("", ())


def _mounts(properties: Mapping[str, Any], path: str) -> list[tuple[str, Mapping[str, Any] | None]]:
    """The mounts that contain a path, with None for each that is not a container."""
    volumes = properties.get("mountVolumes") or {}
    return [
        (at, mount if kind == _BLOBS else None)
        for kind in MOUNT_LISTS
        for mount in volumes.get(kind) or ()
        if (at := "/".join(_levels(str(mount.get("relativeMountPath") or ""))))
        and f"{path}/".startswith(f"{at}/")
    ]


def _levels(path: str) -> list[str]:
    return [level for level in path.split("/") if level not in ("", ".")]
