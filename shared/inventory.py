"""inventory: compare the drop container with what the ledger remembers; accept what no event brought."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from shared.drop import look
from shared.folder import answer_path, content_of, ignored, parent, waiting_path
from shared.ports import Blob, Ports, Seen

log = logging.getLogger(__name__)

#: How many paths one inventory forgets.
_FORGOTTEN = 100


@dataclass(frozen=True)
class Counted:
    """What one inventory did, in numbers for the log."""

    looked: int
    accepted: int
    waiting: int


async def inventory(ports: Ports) -> Counted:
    """Look at every folder that holds a young file nobody has seen. One listing, one range query."""
    folders, _, stale = await unseen(ports)
    for path in stale[:_FORGOTTEN]:
        await ports.ledger.forget(path)
    looked = accepted = waiting = 0
    for folder, files in folders.items():
        looked += 1
        try:
            found = await look(ports, folder, door="inventory")
            accepted += sum(1 for one in found.accepted if one.created)
            if found.waits and await _say_what_it_waits_for(ports, folder, files, found.waits):
                waiting += 1
        except Exception:  # whatever is wrong with one folder, the others have their turn
            log.exception("folder %r is left to the next inventory", folder)
    return Counted(looked, accepted, waiting)


async def unseen(ports: Ports) -> tuple[dict[str, list[Blob]], dict[str, Seen], list[str]]:
    """Folders whose content the ledger does not know, in order; what it remembers; and stale paths of that.

    A path is stale when its folder is gone, or older than the inventory looks back.
    """
    blobs = await ports.drops.list("", deep=True)
    remembered = await ports.ledger.all_seen()
    oldest = ports.clock() - ports.policy.inventory_window
    folders: dict[str, list[Blob]] = defaultdict(list)
    for blob in blobs:
        if not ignored(blob.name):
            folders[parent(blob.name)].append(blob)
    rows: dict[str, list[Seen]] = defaultdict(list)
    for seen in remembered.values():
        rows[seen.folder].append(seen)
    etags = {blob.name: blob.etag for blob in blobs}
    unknown = {}
    for folder, files in sorted(folders.items()):
        known = _is_known(rows[folder], content_of(files), etags)
        if not (known or max(b.modified for b in files) < oldest):
            unknown[folder] = files
    young = {folder for folder, files in folders.items() if max(b.modified for b in files) >= oldest}
    return unknown, remembered, [path for path, seen in remembered.items() if seen.folder not in young]


def _is_known(rows: list[Seen], content: str, etags: Mapping[str, str]) -> bool:
    """Whether all that lies in a folder was dealt with. What started nothing may be mended from elsewhere."""
    if any(seen.waiting for seen in rows):
        return False
    return any(
        seen.content == content
        and (seen.started or all(etags.get(name) == etag for name, etag in seen.etags.items()))
        for seen in rows
    )


async def _say_what_it_waits_for(ports: Ports, folder: str, files: list[Blob], waits: str) -> bool:
    """Leave a note for a person whose drop is incomplete, once their upload should be over."""
    age = (ports.clock() - max(b.modified for b in files)).total_seconds()
    if age < ports.policy.drop_patience:
        return False
    body = json.dumps({"state": "waiting", "folder": folder, "message": waits}, indent=2) + "\n"
    # Remembered first, so that no note is forgotten; without content, so that the next inventory looks again.
    await ports.ledger.remember(Seen(waiting_path(folder), {}, "", 1, waiting=True, folder=folder))
    await ports.drops.put_answer(answer_path(folder, "waiting.json"), body.encode(), replace=True)
    return True
