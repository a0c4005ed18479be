"""The messages of the queue `jobs` that contain no job; the dispatcher sends most of them to itself. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

#: CloudEvents type of our own delayed look at a folder.
LOOK_AT_FOLDER = "io.slipway.drop.look.v1"

#: CloudEvents type of a notice that jobs have ended, from the system that runs them; `data.jobs` has ids.
ENDED = "io.slipway.jobs.ended.v1"

#: CloudEvents type of the message that makes a process record the remaining jobs of a job sweep.
EXPAND = "io.slipway.sweep.expand.v1"

#: The queue of job messages.
QUEUE = "jobs"

#: Jobs that one such notice may name.
MOST_ENDED = 1000

#: The name of the sent document in the places of problems.
MESSAGE = "message"


@dataclass(frozen=True)
class FolderLook:
    """Look at a folder again; `newest` is its youngest file when the message was sent.

    `ticket` is the name of this look; "" in a message of an older version.
    """

    folder: str
    newest: datetime
    ticket: str = ""


@dataclass(frozen=True)
class JobsEnded:
    """A notice that jobs have ended. Not trusted: each job is queried at its cluster."""

    job_ids: tuple[str, ...]


@dataclass(frozen=True)
class SweepExpansion:
    """Record the jobs of a job sweep that are not recorded yet."""

    sweep_id: str


def digest(document: Any) -> str:
    """SHA-256 of a document's canonical JSON: the same for any spacing and order of keys."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def look_message(folder: str, newest: datetime, ticket: str = "") -> str:
    """The delayed message that looks at a folder again."""
    return json.dumps(
        {
            "specversion": "1.0",
            "type": LOOK_AT_FOLDER,
            "source": "urn:slipway",
            "id": f"{folder}@{newest.isoformat()}",
            "data": {"folder": folder, "newest": newest.isoformat(), "ticket": ticket},
        }
    )


def ended_message(jobs: Sequence[str]) -> str:
    """The notice that these jobs have ended."""
    event = {"specversion": "1.0", "type": ENDED, "source": "urn:slipway", "id": jobs[0]}
    return json.dumps(event | {"data": {"jobs": list(jobs)}})


def expand_message(sweep_id: str) -> str:
    """The message that makes a process record the remaining jobs of a job sweep."""
    event = {"specversion": "1.0", "type": EXPAND, "source": "urn:slipway", "id": sweep_id}
    return json.dumps(event | {"data": {"sweep": sweep_id}})
