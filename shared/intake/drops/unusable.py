"""unusable: leaves a note for a dropped file whose name Slipway refuses; other files are not affected.

Slipway neither reads it nor starts a job by it. A job that mounts the container may see it all the same.

`name_flaw` decides which names these are, and says why.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping

from shared.core.errors import SlipwayError
from shared.core.ledger.entries import DropMemo
from shared.core.ports import Blob, Ports
from shared.intake.receipt_path import receipt_path
from shared.jobspec import character_flaw, name_flaw

log = logging.getLogger(__name__)

#: How many of them one inventory handles.
_MOST = 100
_REMEDY = "upload it again under another name, with / between folders, and delete this one"


def path_of(name: str) -> str:
    """The key of such a file in the ledger's cache: its name may be too long for a row."""
    return f"unusable|{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()}"


def note_path(name: str) -> str:
    """The path of the note: in the intended folder, as far as that can be derived."""
    plain = "".join("_" if character_flaw(c) else c for c in name.replace("\\", "/"))
    levels = [level for level in plain.split("/")[:-1] if level.strip(". ")]
    return receipt_path("/".join(levels), f"unusable-{path_of(name)[-16:]}.json")


async def say_unusable(ports: Ports, files: Iterable[Blob], remembered: Mapping[str, DropMemo]) -> None:
    """Leave a note for each file that has none, and log a line. Never raises because of one of them."""
    reported = 0
    for blob in files:
        path = path_of(blob.name)
        memo = remembered.get(path)
        if reported == _MOST or (memo is not None and memo.content == blob.etag):
            continue
        why = f"the name of this file {name_flaw(blob.name)}"
        log.warning("dropped file %r is left alone: %s", blob.name, why)
        message = f"{why}; no job begins with it, though one that mounts the container may read it"
        note = {"state": "ignored", "file": blob.name, "message": message, "remedy": _REMEDY}
        body = json.dumps(note, indent=2) + "\n"
        try:
            await ports.drops.put_receipt_file(note_path(blob.name), body.encode(), replace=True)
            await ports.ledger.remember(
                DropMemo(path, {}, "", 1, folder=path, content=blob.etag, started=False)
            )
        except SlipwayError as error:
            log.warning("the note on dropped file %r is left to the next inventory: %s", blob.name, error)
        except Exception:
            log.exception("the note on dropped file %r is left to the next inventory", blob.name)
        else:
            reported += 1
