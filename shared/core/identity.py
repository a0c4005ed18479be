"""identity: the names by which a job is known here and on its cluster, the same in every process. Pure."""

from __future__ import annotations

import hashlib
import re
from base64 import b32encode
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shared.core.job import Job, Target

#: The form of what `job_id` makes.
JOB_ID = r"j_[a-z2-7]{24}"
_JOB_ID = re.compile(JOB_ID, re.ASCII)
#: The form of a job sweep's id.
_SWEEP_ID = re.compile(r"s_[a-z2-7]{24}", re.ASCII)


def job_id(key: str, generation: int) -> str:
    """The id of one run: the same for every duplicate of one arrival. 120 bits of SHA-256, base32."""
    digest = hashlib.sha256(f"{key}|{generation}".encode()).digest()
    return "j_" + b32encode(digest[:15]).decode().lower()


def is_job_id(text: str) -> bool:
    """Whether a text has the form of a job id."""
    return _JOB_ID.fullmatch(text) is not None


def is_sweep_id(text: str) -> bool:
    """Whether a text has the form of a job sweep's id."""
    return _SWEEP_ID.fullmatch(text) is not None


def short_id(job_id: str) -> str:
    """The beginning of an id, which names on clusters and of folders have: 80 bits.

    That is too many to search for a second job with the name of a first one. Still, two jobs may share it,
    so what is read by such a name is compared with the whole id.
    """
    return job_id[2:18]


def engine_name(job: Job, attempt: int) -> str:
    """The engine-side name of an attempt: `[a-z0-9-]`, at most 63 characters, starts with a letter."""
    slug = re.sub(r"[^a-z0-9]+", "-", job.name.lower()).strip("-")[:30].rstrip("-")
    if not slug or not slug[0].isalpha():
        slug = f"job-{slug}".rstrip("-")
    return f"{slug}-{short_id(job.id)}-{attempt}"


def intent(job: Job, *, engine: str, now: datetime, lease: timedelta) -> dict[str, Any]:
    """The changes that fix the engine-side identity of the current attempt before anything is submitted."""
    return {"target": target(job, job.attempt, engine), "due": now + lease}


def target(job: Job, attempt: int, engine: str) -> Target:
    """The engine-side identity of an attempt."""
    from shared.core.job import Target  # commands that only check an id do not need the models of records

    return Target(
        engine=engine,
        cluster=job.cluster,
        experiment=job.experiment,
        name=engine_name(job, attempt),
        token=f"{job.id}.{attempt}",
    )


def message_name(message_id: str) -> str:
    """The name of a job that a queue message brought without one; `ID#2` is the third job of a message."""
    message, _, number = message_id.partition("#")
    return f"message-{message[:8]}" + (f"-{number}" if number else "")


def blob_name(reference: str) -> str:
    """The name of a job whose document is the blob `container/path`: a job.json's folder, else the file's."""
    folder, _, file = reference.rpartition("/")
    return folder.rpartition("/")[2] if file == "job.json" else file.removesuffix(".json")
