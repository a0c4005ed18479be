"""inventory: compare the drop container with what the ledger remembers; accept what no event brought."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shared.drop import look
from shared.errors import SlipwayError
from shared.folder import ignored, parent
from shared.ports import Blob, Ports, Seen

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Counted:
    """What one inventory did, in numbers for the log."""

    folders: int
    looked: int
    accepted: int
    waiting: int


async def inventory(ports: Ports) -> Counted:
    """Look at every folder that holds a young file nobody has seen. One listing, one range query."""
    blobs = await ports.drops.list("", deep=True)
    remembered = await ports.ledger.all_seen()
    oldest = ports.clock() - ports.policy.inventory_window
    folders: dict[str, list[Blob]] = defaultdict(list)
    for blob in blobs:
        if ignored(blob.name):
            continue
        folders[parent(blob.name)].append(blob)
    looked = accepted = waiting = 0
    for folder, files in sorted(folders.items()):
        rows = [seen for path, seen in remembered.items() if path.partition("|")[0] == folder]
        if not _unseen(files, rows) or max(b.modified for b in files) < oldest:
            continue
        looked += 1
        try:
            found = await look(ports, folder, door="inventory")
        except SlipwayError as error:
            log.warning("folder %r is left to the next inventory: %s", folder, error)
            continue
        accepted += sum(1 for one in found.accepted if one.created)
        if found.waits and await _say_what_it_waits_for(ports, folder, files, found.waits, rows):
            waiting += 1
    return Counted(len(folders), looked, accepted, waiting)


def _unseen(files: Iterable[Blob], rows: list[Seen]) -> bool:
    known: set[tuple[str, str]] = {pair for row in rows for pair in _pairs(row.etags)}
    return any((blob.name, blob.etag) not in known for blob in files)


def _pairs(etags: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    return etags.items()


async def _say_what_it_waits_for(
    ports: Ports, folder: str, files: list[Blob], waits: str, rows: list[Seen]
) -> bool:
    """Leave a note for a person whose drop is incomplete, once their upload should be over."""
    age = (ports.clock() - max(b.modified for b in files)).total_seconds()
    if age < ports.policy.drop_patience:
        return False
    body = json.dumps({"state": "waiting", "folder": folder, "message": waits}, indent=2) + "\n"
    await ports.drops.put_answer(f"{folder}waiting.json", body.encode(), replace=True)
    path = f"{folder}|"
    if not any(row.path == path for row in rows):
        await ports.ledger.remember(Seen(path, {}, "", 1, waiting=True))
    return True
