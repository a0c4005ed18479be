"""The rows of the ledger table that belong to no job, as pure translations.

Partitions `d<shard>` remember dropped paths, `receivers` those who want no more events, `dead` the messages
that failed too often; `meta` has the switch that stops submissions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from shared.dead import DeadMessage
from shared.ports import Disabled, Pause, Seen
from shared.storage.rows import Entity, joined, split, text_of

#: The partition of receivers that want no more events.
RECEIVERS = "receivers"
#: The partition of messages that no try could process.
DEAD = "dead"
#: The key of the switch that stops submissions.
PAUSE = {"PartitionKey": "meta", "RowKey": "paused"}


def pause_row(pause: Pause | None) -> Entity:
    """The switch, on or off."""
    if pause is None:
        return {**PAUSE, "Since": ""}
    return {**PAUSE, "Since": text_of(pause.since), "By": pause.by, "Reason": pause.reason}


def pause_of(entity: Mapping[str, Any]) -> Pause | None:
    """What the switch says."""
    if not entity["Since"]:
        return None
    return Pause(datetime.fromisoformat(entity["Since"]), entity["By"], entity["Reason"])


def seen_row(seen: Seen, shards: int) -> Entity:
    """What is remembered of a dropped path."""
    digest = hashlib.sha256(seen.path.encode()).hexdigest()
    return {
        "PartitionKey": f"d{int(digest[:8], 16) % shards:03d}",
        "RowKey": digest,
        "Path": seen.path,
        "Job": seen.job_id,
        "Generation": seen.generation,
        "Waiting": seen.waiting,
        "Folder": seen.folder,
        "Content": seen.content,
        "Started": seen.started,
        **split("Etags", json.dumps(dict(seen.etags))),
    }


def seen_of(entity: Mapping[str, Any]) -> Seen:
    """What the row remembers."""
    return Seen(
        path=entity["Path"],
        etags=json.loads(joined("Etags", entity)),
        job_id=entity["Job"],
        generation=int(entity["Generation"]),
        waiting=bool(entity["Waiting"]),
        folder=entity["Folder"],
        content=entity["Content"],
        started=bool(entity.get("Started", True)),
    )


def disabled_row(one: Disabled) -> Entity:
    """A receiver that wants no more events."""
    return {
        "PartitionKey": RECEIVERS,
        "RowKey": one.id,
        "Url": one.url,
        "Since": text_of(one.since),
        "Why": one.why,
    }


def disabled_of(entity: Mapping[str, Any]) -> Disabled:
    """The receiver that a row holds."""
    return Disabled(entity["RowKey"], entity["Url"], datetime.fromisoformat(entity["Since"]), entity["Why"])


def dead_row(dead: DeadMessage) -> Entity:
    """A message that no try could process."""
    return {
        "PartitionKey": DEAD,
        "RowKey": dead.id,
        "Queue": dead.queue,
        "Message": dead.message_id,
        "Sealed": dead.sealed,
        "At": text_of(dead.at),
        "Reason": dead.reason,
        "Digest": dead.digest,
        **split("Body", dead.body),
    }


def dead_of(entity: Mapping[str, Any]) -> DeadMessage:
    """The message that a row holds."""
    return DeadMessage(
        id=entity["RowKey"],
        queue=entity["Queue"],
        message_id=entity["Message"],
        body=joined("Body", entity),
        sealed=bool(entity["Sealed"]),
        at=datetime.fromisoformat(entity["At"]),
        reason=entity["Reason"],
        digest=entity["Digest"],
    )
