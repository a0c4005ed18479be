"""wakeups: reads messages that carry no job: a blob, ended jobs, a part of a sweep, a folder, a job sweep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from shared.core.identity import is_job_id, is_sweep_id
from shared.core.messages import (
    ENDED,
    EXPAND,
    LOOK_AT_FOLDER,
    MOST_ENDED,
    FolderLook,
    JobsEnded,
    SweepExpansion,
)


@dataclass(frozen=True)
class BlobWritten:
    """A blob was written, in any container."""

    container: str
    name: str


@dataclass(frozen=True)
class FolderRenamed:
    """A folder got its name, with all that is below it, in an account with directories."""

    container: str
    name: str


def renamed(subject: str) -> FolderRenamed | None:
    """The folder whose new name a storage event gives; None if it gives none."""
    place = arrival(subject)
    return FolderRenamed(place.container, place.name.rstrip("/")) if place else None


def arrival(subject: str) -> BlobWritten | None:
    """The blob that a storage event names; None if it names none."""
    # /blobServices/default/containers/<container>/blobs/<name>  (Event Grid, storage event schema)
    head, _, rest = subject.partition("/containers/")
    container, _, name = rest.partition("/blobs/")
    return BlobWritten(container, name) if head and container and name else None


def triggered(document: dict[str, Any]) -> BlobWritten | None:
    """The blob that a message of the blob trigger names; None if it names none."""
    container, name = document.get("ContainerName"), document.get("BlobName")
    named = isinstance(container, str) and isinstance(name, str) and container and name
    return BlobWritten(str(container), str(name)) if named else None


def jobs_ended(data: dict[str, Any]) -> JobsEnded | None:
    """The ids of the jobs that have ended; None if the data has another form."""
    job_ids = data.get("jobs")
    if not isinstance(job_ids, list) or len(job_ids) > MOST_ENDED:
        return None
    if not all(isinstance(job_id, str) and is_job_id(job_id) for job_id in job_ids):
        return None
    return JobsEnded(tuple(job_ids))


def folder_look(data: dict[str, Any]) -> FolderLook | None:
    """A folder to look at, and its newest file; None if the data has another form."""
    try:
        newest = datetime.fromisoformat(str(data["newest"]))
        folder, ticket = str(data["folder"]), str(data.get("ticket", ""))
        return FolderLook(folder, newest, ticket) if newest.tzinfo else None
    except (KeyError, ValueError):
        return None


def expansion(data: dict[str, Any]) -> SweepExpansion | None:
    """A job sweep with jobs to record; None if the data has another form."""
    identity = data.get("sweep")
    return SweepExpansion(identity) if isinstance(identity, str) and is_sweep_id(identity) else None


WakeUp: TypeAlias = FolderLook | JobsEnded | SweepExpansion
#: By the type of the event.
WAKE_UPS: Mapping[str, Callable[[dict[str, Any]], WakeUp | None]] = {
    LOOK_AT_FOLDER: folder_look,
    ENDED: jobs_ended,
    EXPAND: expansion,
}
