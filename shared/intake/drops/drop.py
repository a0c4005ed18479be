"""drop: a folder of the drop container becomes jobs once it is complete and quiet.

A blob's event, a delayed look and the inventory all end here; the first one records the job, the others
join it. Files may arrive in any order.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.core.each import each
from shared.core.job import JobState
from shared.core.ledger.entries import DropMemo
from shared.core.pacing.wait_kinds import WaitKind
from shared.core.ports import Ports
from shared.intake.accept import Accepted, accept
from shared.intake.candidate import Candidate
from shared.intake.drops.contents import all_files, contents_of, files_in, of_teams, too_many, with_cold
from shared.intake.drops.dropped import candidate_of_drop
from shared.intake.drops.explained import put_explanation, with_its_document
from shared.intake.drops.folder import parent, plans, waiting_path
from shared.intake.drops.freeze import Freezer
from shared.intake.drops.late import folder_that_lacks, note_frozen, say_late
from shared.intake.drops.needed_files import folder_that_awaits
from shared.intake.drops.ordered import begin, has_waited, is_ordered, order
from shared.intake.drops.part import note_decided, run_of
from shared.intake.drops.plan import Plan
from shared.intake.receipt_path import receipt_path
from shared.lifecycle.current_teams import readable_beside

log = logging.getLogger(__name__)
#: How many runs of a folder are accepted at once: each holds the files of its folder.
_AT_ONCE = 2


@dataclass(frozen=True)
class FolderResult:
    """The result of a look at a folder: its jobs, or what the folder waits for."""

    accepted: tuple[Accepted, ...] = ()
    waits: str = ""
    #: folders of `runs` with the explanation of a drop that does not run
    explained: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Result:
    """The outcome of one plan, and what to remember about it."""

    memo: DropMemo
    accepted: Accepted | None = None
    explained: str = ""
    #: False if the next look has to say what came too late for it
    is_done: bool = True


async def file_arrived(ports: Ports, name: str) -> FolderResult:
    """A file was written: look at its folder, unless this can change nothing, or such a look is ordered."""
    folder, run = parent(name), await run_of(ports, name)
    if run is None and (awaiting := folder_that_awaits(ports, name)) is not None:
        folder, run = awaiting, f"{awaiting}|"
    if run is None and (lacking := await folder_that_lacks(ports, name)) is not None:
        return await look_at_folder(ports, lacking)
    if run is None or await is_ordered(ports, folder):
        return FolderResult()
    accepted = await _accepted_before(ports, name, run)
    return FolderResult((accepted,)) if accepted else await look_at_folder(ports, folder)


async def look_as_ordered(ports: Ports, folder: str, ticket: str, newest: datetime) -> FolderResult:
    """The delayed look at a folder, which was ordered for its youngest file."""
    await begin(ports, folder, ticket, newest)
    return await look_at_folder(ports, folder)


async def look_at_folder(ports: Ports, folder: str, *, door: str = "drop") -> FolderResult:
    """Accept the complete runs of a folder (its name ends with a slash, or is empty at the top).

    One look at a time in a process; all who ask meanwhile share the next one. A folder that is not quiet
    gets a delayed look for its youngest file, which until then takes the place of any other.
    """
    return await ports.joint.run(folder, lambda: _one_look(ports, folder, door))


async def _one_look(ports: Ports, folder: str, door: str) -> FolderResult:
    settles = FolderResult(waits=f"settles for {ports.policy.settle:g} s")
    if await is_ordered(ports, folder):
        return settles
    files = await files_in(ports, folder)
    if files is None:
        return FolderResult(waits=too_many(ports))
    folder_plans = await plans(ports, folder, files.blobs, deeper=files.deeper)
    if folder_plans.decided is not None:
        note_decided(ports, folder, folder_plans.decided)
    if not folder_plans.runs:
        return FolderResult(waits=folder_plans.waits)
    every = await all_files(ports.drops, folder, files)
    whole = of_teams(every, await readable_beside(ports, folder))
    freezer = Freezer(ports, whole, folder_plans.runs)
    newest = freezer.newest
    longest = ports.policy.longest(WaitKind.SETTLE)
    wait = newest + longest - ports.clock()
    # By our clock the file may come from the future: then the delay of its look shows that it is quiet.
    if wait > timedelta() and not (wait > longest and has_waited(ports, folder, newest)):
        await order(ports, folder, newest, min(wait, longest).total_seconds())
        return settles
    folder_plans = with_cold(folder_plans, whole.blobs)
    ended = await each(
        folder_plans.runs,
        lambda plan: _explain(ports, plan, freezer) if plan.explains else _accept(ports, plan, freezer, door),
        at_once=_AT_ONCE,
    )
    results = [one for one in ended if one is not None]
    if len(results) == len(folder_plans.runs) and all(one.is_done for one in results):
        await _remember(ports, folder, contents_of(files.blobs).digest, [one.memo for one in results])
    return FolderResult(
        tuple(one.accepted for one in results if one.accepted is not None),
        explained=tuple(one.explained for one in results if one.explained),
    )


async def _accepted_before(ports: Ports, name: str, run: str) -> Accepted | None:
    """The job that started from this version of a file: its event came late, or again."""
    memo = await ports.ledger.drop_memo(run)
    if memo is None or not memo.started or name not in memo.etags:
        return None
    blob = await ports.drops.find(name)
    if blob is None or memo.etags[name] != blob.etag:
        return None
    stored = await ports.ledger.get(memo.job_id)
    return Accepted(stored.job, created=False) if stored is not None else None


async def _explain(ports: Ports, plan: Plan, freezer: Freezer) -> _Result | None:
    """Explain a run instead of starting it. No job is recorded, so nothing counts as done."""
    path = await put_explanation(ports, plan, freezer)
    if path is None:
        return None
    return _Result(DropMemo(plan.path, plan.etags, "", 1, folder=plan.folder, started=False), explained=path)


async def _accept(ports: Ports, plan: Plan, freezer: Freezer, door: str) -> _Result | None:
    """Accept one plan.

    None when a file changed while it was read: its own event, or the inventory, looks again.
    """
    memo = await ports.ledger.drop_memo(plan.path)
    if memo is not None and memo.job_id and _unchanged(memo, plan, freezer):
        stored = await ports.ledger.get(memo.job_id)
        if stored is not None:
            return await _with_late(ports, memo, Accepted(stored.job, created=False), freezer)
    async with ports.joint.few:
        candidate = await _frozen(ports, plan, freezer, door, memo)
    if candidate is None:
        return None
    accepted = await accept(ports, candidate)
    job = accepted.job
    started = job.state is not JobState.REJECTED
    etags = candidate.drop.etags if candidate.drop else plan.etags
    fresh = DropMemo(plan.path, etags, job.id, job.generation, folder=plan.folder, started=started)
    return await _with_late(ports, fresh, accepted, freezer)


async def _with_late(ports: Ports, memo: DropMemo, accepted: Accepted, freezer: Freezer) -> _Result:
    """The outcome, with how young the files are, once STATUS names those that the job does not have."""
    job = accepted.job
    if not await say_late(ports, job, freezer.helpers):
        return _Result(memo, accepted, is_done=False)
    if job.code is not None and not job.state.terminal:
        note_frozen(ports, memo.folder, freezer.newest)
    if memo.newest != freezer.newest:
        memo = replace(memo, newest=freezer.newest, content="")  # so that it is remembered
    return _Result(memo, accepted)


async def _frozen(
    ports: Ports, plan: Plan, freezer: Freezer, door: str, memo: DropMemo | None
) -> Candidate | None:
    contents = dict[str, bytes]()
    candidate = await candidate_of_drop(ports, plan, door, memo, contents)
    if candidate is None:
        return None
    return await freezer.freeze(plan, await with_its_document(ports, candidate), contents)


def _unchanged(memo: DropMemo, plan: Plan, freezer: Freezer) -> bool:
    """Whether there is no reason for another run. A rejected job may be corrected in any of its files.

    One that was refused for all files of its folder together is judged again when one of these changes.
    """
    if not memo.started:
        return memo.etags in (plan.etags, {**plan.etags, **freezer.judged})
    return all(memo.etags.get(blob.name) == blob.etag for blob in plan.own_files)


async def _remember(ports: Ports, folder: str, content: str, memos: Iterable[DropMemo]) -> None:
    """Remember the content of a folder, now that all its plans are done.

    Until then, every inventory has to look again.
    """
    await no_longer_waiting(ports, folder)  # first, because a known folder is not looked at again
    new = [replace(memo, content=content) for memo in memos if memo.content != content]
    await each(new, ports.ledger.remember)


async def no_longer_waiting(ports: Ports, folder: str) -> None:
    """Delete the note that said what the folder waits for."""
    waiting = await ports.ledger.drop_memo(waiting_path(folder))
    if waiting is not None and waiting.waiting:
        await ports.drops.delete_receipt_file(receipt_path(folder, "waiting.json"))
        await ports.ledger.remember(replace(waiting, waiting=False))
