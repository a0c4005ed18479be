"""The rows of the ledger table that belong to no job, as pure translations.

Partitions `d<shard>` remember dropped paths, `receivers` the disabled receivers, `dead` the messages that
failed too often; `meta` has the pause of submissions and the report of the sweeper.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from shared.adapters.storage.rows import Entity, moment_of, text_of
from shared.adapters.storage.table import Range, flag_at, joined, split, text_at
from shared.core.ledger.dead import DeadMessage
from shared.core.ledger.entries import DropMemo, Pause, Reported, Silent
from shared.core.notify.receivers import Disabled

#: The partition of disabled receivers.
RECEIVERS = "receivers"
#: The partition of dead messages.
DEAD = "dead"
#: The key of the pause of submissions.
PAUSE = {"PartitionKey": "meta", "RowKey": "paused"}


#: The key of the troubles that the last pass found.
TROUBLES = {"PartitionKey": "meta", "RowKey": "trouble"}
#: The range that holds both, and nothing else of the partition.
STANDING = Range("meta", PAUSE["RowKey"], f"{TROUBLES['RowKey']}|")


def trouble_row(reported: Reported) -> Entity:
    """The row with the troubles that a pass found."""
    silent = {cluster: [text_of(one.since), one.why] for cluster, one in reported.silent.items()}
    return {
        **TROUBLES,
        "At": text_of(reported.at),
        "Found": json.dumps(dict(reported.counts)),
        **split("Silent", json.dumps(silent)),
    }


def troubles_of(entity: Mapping[str, Any]) -> Reported:
    """The time and the troubles that a row holds."""
    troubles = json.loads(entity["Found"])
    silent = json.loads(joined("Silent", entity)) if "Silent0" in entity else {}
    return Reported(
        moment_of(entity["At"]),
        {str(kind): int(n) for kind, n in troubles.items()},
        {cluster: Silent(moment_of(since), why) for cluster, (since, why) in silent.items()},
    )


def pause_row(pause: Pause | None) -> Entity:
    """The row with the pause, or with none."""
    if pause is None:
        return {**PAUSE, "Since": ""}
    return {**PAUSE, "Since": text_of(pause.since), "By": pause.by, "Reason": pause.reason}


def pause_of(entity: Mapping[str, Any]) -> Pause | None:
    """The pause that the row holds; None while submissions go on."""
    if not (since := text_at(entity, "Since")):
        return None
    return Pause(moment_of(since), text_at(entity, "By"), text_at(entity, "Reason"))


def drop_memo_row(memo: DropMemo, shards: int) -> Entity:
    """The row with the memo of a dropped path."""
    digest = hashlib.sha256(memo.path.encode()).hexdigest()
    return {
        "PartitionKey": f"d{int(digest[:8], 16) % shards:03d}",
        "RowKey": digest,
        "Path": memo.path,
        "Job": memo.job_id,
        "Generation": memo.generation,
        "Waiting": memo.waiting,
        "Folder": memo.folder,
        "Content": memo.content,
        "Started": memo.started,
        **({"Ticket": memo.ticket, "Until": text_of(memo.until)} if memo.until else {}),
        **({"Newest": text_of(memo.newest)} if memo.newest else {}),
        **split("Etags", json.dumps(dict(memo.etags))),
    }


def drop_memo_of(entity: Mapping[str, Any]) -> DropMemo:
    """The memo of a dropped path that a row holds."""
    return DropMemo(
        path=text_at(entity, "Path"),
        etags=dict(json.loads(joined("Etags", entity))),
        job_id=text_at(entity, "Job"),
        generation=int(entity["Generation"]),
        waiting=flag_at(entity, "Waiting"),
        folder=text_at(entity, "Folder"),
        content=text_at(entity, "Content"),
        started=flag_at(entity, "Started", default=True),
        ticket=text_at(entity, "Ticket", ""),
        until=moment_of(entity["Until"]) if entity.get("Until") else None,
        newest=moment_of(entity["Newest"]) if entity.get("Newest") else None,
    )


def disabled_row(one: Disabled) -> Entity:
    """The row of a disabled receiver."""
    return {
        "PartitionKey": RECEIVERS,
        "RowKey": one.id,
        "Url": one.url,
        "Since": text_of(one.since),
        "Why": one.why,
    }


def disabled_of(entity: Mapping[str, Any]) -> Disabled:
    """The receiver that a row holds."""
    url, why = text_at(entity, "Url"), text_at(entity, "Why")
    return Disabled(entity["RowKey"], url, moment_of(entity["Since"]), why)


def dead_row(dead: DeadMessage) -> Entity:
    """The row of a dead message."""
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
        queue=text_at(entity, "Queue"),
        message_id=text_at(entity, "Message"),
        body=joined("Body", entity),
        sealed=flag_at(entity, "Sealed"),
        at=moment_of(entity["At"]),
        reason=text_at(entity, "Reason"),
        digest=text_at(entity, "Digest"),
    )
