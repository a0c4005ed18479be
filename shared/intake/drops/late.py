"""late: names the files of a drop that came after its job was accepted, in the record and STATUS of the job.

A drop is frozen once. What comes later is not part of its job, and a person who sent it has to know that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from shared.core.job import Job
from shared.core.ledger.entries import DropMemo
from shared.core.ports import Blob, Ports
from shared.delivery.receipt_files import put_news
from shared.intake.drops.contents import Contents
from shared.intake.drops.folder import job_blob, parent
from shared.intake.drops.left_out import some_of
from shared.lifecycle.transition import apply, note

#: Levels above a file in which the folder of a drop may be.
_LEVELS = 9


async def say_late(ports: Ports, job: Job, files: Collection[Blob]) -> bool:
    """Name those of the files that its job does not have. Costs nothing where there is nothing new to say.

    `files`: of its folder, without those that are jobs of their own. Returns False if the record changed
    meanwhile, so that the next look has to say it.
    """
    if (text := _sentence(job, files)) in ("", job.drop.late if job.drop else ""):
        return True
    stored = await ports.ledger.get(job.id)
    if stored is None or stored.job.state.terminal or stored.job.drop is None:
        return True
    drop = stored.job.drop.model_copy(update={"late": text})
    applied = await apply(ports, note(ports, stored, drop=drop))
    if applied is None:
        return False
    await put_news(ports, applied.job)
    return True


def _sentence(job: Job, files: Collection[Blob]) -> str:
    """What is said of the files; "" if all of them are part of the job, or it has ended, or has none."""
    if job.drop is None or job.drop.newest is None or job.code is None or job.state.terminal:
        return ""
    folder = f"{job.drop.folder}/" if job.drop.folder else ""
    # A template above it is not part of it.
    within = [blob for blob in files if blob.name.startswith(folder)]
    names = [blob.name.removeprefix(folder) for blob in within if blob.modified > job.drop.newest]
    if not names:
        return ""
    are = "is" if len(names) == 1 else "are"
    return f"came after the job was accepted, and {are} not part of it: {some_of(names)}"


def note_frozen(ports: Ports, folder: str, newest: datetime) -> None:
    """Remember in this process that the files of a folder were frozen, and how young the youngest was."""
    ports.memo.put(_frozen(folder), ports.clock(), {"newest": newest})


async def folder_that_lacks(ports: Ports, name: str) -> str | None:
    """The frozen folder that a file came too late for; None if there is none.

    Asks nothing unless this process froze a folder above it: in another process the inventory finds the
    file, as it finds one whose event is lost. Then a small request for the file, and some for its job.json.
    """
    folder = name
    for _ in range(_LEVELS):
        folder = parent(folder.rstrip("/"))
        newest: datetime | None = ports.memo.latest(_frozen(folder)).get("newest")
        if newest is not None or not folder:
            break
    blob = await ports.drops.find(name) if newest is not None and (folder or "/" not in name) else None
    if newest is None or blob is None or blob.modified <= newest:
        return None
    job = await job_blob(ports, parent(name))
    return folder if job is not None and folder.startswith(parent(job.name)) else None


def late_in(
    folders: Mapping[str, Contents], rows: Mapping[str, Sequence[DropMemo]], jobs: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The frozen folders above those with a file that came later, each with the one below. Pure.

    `rows`: what is remembered of each folder; `jobs`: the folders that have a job.json of their own.
    """
    for folder, contents in folders.items():
        above = folder
        while not (newest := _newest(rows.get(above, ()))) and above not in jobs and above:
            above = parent(above.rstrip("/"))
        if newest and contents.newest > newest and above and above != folder:
            yield above, folder


def _newest(memos: Iterable[DropMemo]) -> datetime | None:
    """How young a folder is remembered to be: a script that is gone is remembered as it was."""
    return max((memo.newest for memo in memos if memo.newest), default=None)


def _frozen(folder: str) -> str:
    return f"frozen|{folder}"
