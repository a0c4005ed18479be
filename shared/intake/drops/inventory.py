"""inventory: compare the drop container with the ledger's memory; accept drops for which no event came."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from shared.core.errors import SlipwayError, Unreadable
from shared.core.ledger.entries import DropMemo
from shared.core.pacing.wait_kinds import WaitKind
from shared.core.ports import Blob, Ports
from shared.intake.drops.contents import Contents, walk
from shared.intake.drops.drop import look_at_folder, no_longer_waiting
from shared.intake.drops.folder import JOB_FILE, parent, unusable, waiting_path
from shared.intake.drops.late import late_in
from shared.intake.drops.unusable import path_of, say_unusable
from shared.intake.receipt_path import receipt_path
from shared.jobspec import is_ignored
from shared.lifecycle.current_teams import readable_beside

log = logging.getLogger(__name__)

#: How many paths one inventory forgets at most.
_FORGOTTEN = 100


@dataclass(frozen=True)
class InventoryCounts:
    """The counts of one inventory, for the log."""

    looked: int
    accepted: int
    waiting: int
    #: whether all folders were looked at for which there was a reason
    whole: bool = True


async def inventory(ports: Ports) -> InventoryCounts:
    """Look at every folder with a recent file that is not known yet, within the deadline; the next goes on.

    Costs one listing and one range query a shard.
    """
    end = asyncio.get_running_loop().time() + ports.policy.inventory_deadline
    drops = await unseen(ports)
    for path in drops.stale[:_FORGOTTEN]:
        await _forget(ports, drops.remembered[path], path)
    await say_unusable(ports, drops.unusable, drops.remembered)
    looked = accepted = waiting = 0
    for folder, contents in drops.folders.items():
        if looked and asyncio.get_running_loop().time() > end:
            return InventoryCounts(looked, accepted, waiting, whole=False)
        looked += 1
        try:
            result = await look_at_folder(ports, folder, door="inventory")
            accepted += sum(1 for one in result.accepted if one.created)
            if result.waits and await _say_what_it_waits_for(ports, folder, contents.newest, result.waits):
                waiting += 1
            elif not result.waits and waiting_path(folder) in drops.remembered:
                await no_longer_waiting(ports, folder)
        except Unreadable as error:
            log.info("folder %r is left alone: %s", folder, error)
        except SlipwayError as error:
            log.warning("folder %r is left to the next inventory: %s", folder, error)
        except Exception as error:  # noqa: BLE001 - an error in one folder must not stop the others
            memo = drops.remembered.get(waiting_path(folder))
            await _say_that_it_fails(ports, folder, error, again=memo is not None and memo.waiting)
    return InventoryCounts(looked, accepted, waiting)


@dataclass(frozen=True)
class Unseen:
    """The differences between the drop container and the ledger's memory of it."""

    #: folders whose content the ledger does not know, in order
    folders: Mapping[str, Contents]
    #: all entries that the ledger remembers, by path
    remembered: Mapping[str, DropMemo]
    #: the paths of entries whose folder is gone, or older than the inventory looks back
    stale: list[str]
    #: files that no client can request
    unusable: list[Blob]


async def _forget(ports: Ports, memo: DropMemo, path: str) -> None:
    """Forget an entry. What a folder waits for is said no longer, if the folder is gone, and not only old."""
    if memo.waiting and path == waiting_path(memo.folder):
        page = await ports.drops.page(memo.folder)
        if not page.blobs and not page.next:
            await no_longer_waiting(ports, memo.folder)
    await ports.ledger.forget(path)


async def unseen(ports: Ports) -> Unseen:
    """Compare the two. Costs one listing, and one range query a shard."""
    remembered = await ports.ledger.drop_memos()
    rows: dict[str, list[DropMemo]] = defaultdict(list)
    for memo in remembered.values():
        rows[memo.folder].append(memo)
    oldest = ports.clock() - ports.policy.inventory_window
    etags = {name: "" for memo in remembered.values() if not memo.started for name in memo.etags}
    folders: dict[str, Contents] = defaultdict(Contents)
    bad, jobs = list[Blob](), set[str]()
    async for blob in walk(ports.drops, ""):
        if blob.name in etags:
            etags[blob.name] = blob.etag
        if not is_ignored(blob.name):
            folders[parent(blob.name)].add(blob)
            if blob.name == f"{parent(blob.name)}{JOB_FILE}":
                jobs.add(parent(blob.name))
        elif unusable(blob.name) and blob.modified >= oldest:
            bad.append(blob)
    young = {folder: contents for folder, contents in folders.items() if contents.newest >= oldest}
    unknown = {
        folder: contents
        for folder, contents in sorted(young.items())
        if not _is_known(rows[folder], contents.digest, etags)
    }
    for folder, below in late_in(young, rows, jobs):
        if (await readable_beside(ports, folder))(below):
            unknown.setdefault(folder, folders[folder])
    present = {*young, *(path_of(blob.name) for blob in bad)}
    stale = [path for path, memo in remembered.items() if memo.folder not in present]
    return Unseen(unknown, remembered, stale, bad)


def _is_known(rows: list[DropMemo], content: str, etags: Mapping[str, str]) -> bool:
    """Whether all files of a folder were handled.

    A folder that started nothing may be completed by files elsewhere.
    """
    return not any(memo.waiting for memo in rows) and any(
        memo.content == content
        and (memo.started or all(etags.get(name) == etag for name, etag in memo.etags.items() if name))
        for memo in rows
    )


async def _say_what_it_waits_for(ports: Ports, folder: str, newest: datetime, waits: str) -> bool:
    """Leave a note for a person whose drop is incomplete, once their upload should be over."""
    patience = ports.policy.longest(WaitKind.NOTE)
    over = ports.policy.is_over(WaitKind.NOTE, newest + patience, ports.clock(), patience)
    if over:
        await _note(ports, folder, waits)
    return over


async def _say_that_it_fails(ports: Ports, folder: str, error: Exception, *, again: bool) -> None:
    """Report that a defect of Slipway stopped the look at a folder.

    Its owner gets a note, the operator one traceback.
    """
    log.error("folder %r is left to the next inventory: %s", folder, type(error).__name__, exc_info=not again)
    if not again:
        with suppress(Exception):  # the note itself may fail
            text = "Slipway failed over this folder; report this defect, or upload other files"
            await _note(ports, folder, text)


async def _note(ports: Ports, folder: str, message: str) -> None:
    body = json.dumps({"state": "waiting", "folder": folder, "message": message}, indent=2) + "\n"
    # Remembered first, so that no note is forgotten; without content, so that the next inventory looks again.
    await ports.ledger.remember(DropMemo(waiting_path(folder), {}, "", 1, waiting=True, folder=folder))
    await ports.drops.put_receipt_file(receipt_path(folder, "waiting.json"), body.encode(), replace=True)
