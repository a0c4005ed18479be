"""`slipway drop`: upload a folder, and name the jobs that it starts, if the API shows them."""

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from shared.intake.drops.folder import parent
from shared.settings import Settings
from slipway.client.calls.patience import chosen_patience, patiently, pause
from slipway.client.drops.folder import check, check_folder, target_of
from slipway.client.drops.upload import Uploaded, files_for, upload_files
from slipway.client.jobs.naming import unmeant
from slipway.client.jobs.words import rejection, standing
from slipway.client.request.secrets import refuse_secrets
from slipway.client.service import Service, service
from slipway.client.storage.upload_settings import upload_settings
from slipway.commands.asking import show
from slipway.commands.drop.foresee import Foreseen, foresee, refuse
from slipway.failure import Failure
from slipway.settings import address_beside
from slipway.terminal.characters import printable
from slipway.terminal.screen import put, remark, say

#: How many jobs are searched for the new ones, and how many active jobs for those of the same folder.
LISTED, ACTIVE = 50, 1000
#: Seconds between two looks at the jobs; without another job, after the folder has been quiet, until the end.
_EVERY, _PATIENCE = 1.0, 60.0
_FIND = "find it: slipway jobs --source drop,inventory --limit 5"
#: The exit code of a shell command that Ctrl-C ended.
_INTERRUPTED = 130

Job = Mapping[str, Any]


def receipts_of(folder: str) -> re.Pattern[str]:
    """The names of the receipts of the jobs of a folder, and of the folders below it."""
    return re.compile(rf"[^/]+/{re.escape(folder)}/(?:[^/]+/)*[^/]+/receipt\.json")


@dataclass
class Drop:
    """One drop: its files, and its outcome."""

    settings: Settings
    folder: Path
    target: str
    force: bool
    #: the outcome is shown at the end only
    quiet: bool
    url: str
    key: str = field(repr=False)
    uploaded: Uploaded | None = None
    #: why nothing runs yet, if so
    waits: Sequence[str] = ()
    jobs: list[Job] = field(default_factory=list)

    def add(self, job: Job) -> None:
        """Add a job that it starts, and show it at once."""
        self.jobs.append(job)
        if not self.quiet:
            put(standing(job))
        if hint := unmeant(job):
            say(hint)
        if job["state"] == "rejected":
            say(rejection(job))

    def say_interrupted(self) -> None:
        """Say what is there after a Ctrl-C."""
        say(f"its job begins; {_FIND}" if self.uploaded else "not all files were uploaded")


def run(drop: Drop, *, as_json: bool = False) -> int:
    """Upload, show each file and each job; with `force`, also upload what cannot run. Raises Failure.

    The exit code is 1 if a job was rejected without `force`.
    """
    try:
        asyncio.run(carry_out(drop))
    except KeyboardInterrupt:
        drop.say_interrupted()
        return _INTERRUPTED
    _show(drop, as_json=as_json)
    return int(not drop.force and any(job["state"] == "rejected" for job in drop.jobs))


def prepared(
    folder: Path, to: str, url: str, key: str, settings_file: Path | None, *, force: bool, quiet: bool
) -> Drop:
    """A drop of the folder. Raises Failure for one that cannot run, or has a secret."""
    check_folder(folder)
    url = url or address_beside(settings_file)
    settings = asyncio.run(upload_settings(url, key, settings_file))
    target = target_of(folder, to)
    if not force:
        check(folder, target)
    refuse_secrets(folder, force=force)
    return Drop(settings, folder, target, force, quiet, url, key)


async def carry_out(drop: Drop) -> None:
    """Upload, and wait for the jobs. Raises Failure."""
    async with AsyncExitStack() as ends:
        api, trouble, earlier, at_work = None, "", set[str](), set[str]()
        try:
            api = await ends.enter_async_context(service(drop.url, drop.key))
            earlier, at_work = await _ids(api, drop), await _ids(api, drop, {"state": "active"}, ACTIVE)
        except Failure as failure:
            api, trouble = None, str(failure)
        files = files_for(drop.folder, drop.target)
        foreseen = await foresee(drop.settings, files)
        if not drop.force:
            await refuse(foreseen, drop.settings, drop.folder, files, api)
        drop.uploaded = await upload_files(drop.settings, drop.target, files)
        if not drop.quiet:  # before the next query, which may fail
            put(*(f"uploaded {name}" for name in drop.uploaded.names))
        runs = _foresaid(drop, foreseen)
        if api and runs:
            trouble = await _wait(api, drop, runs, earlier, at_work)
        if trouble and runs:
            say(f"the id of the job is not known: {trouble}; it begins all the same, {_FIND}")


def _foresaid(drop: Drop, foreseen: Foreseen) -> int:
    """Say what the upload begins, or why nothing; returns how many jobs that are."""
    contents, outlook = foreseen
    drop.waits = outlook.waits
    for wait in drop.waits:
        remark(f"warning: nothing runs yet: {wait}")
    # What a template runs besides lay there before.
    own = [one for one in outlook.plans if any(file.name in contents for file in one.own_files)]
    for name in sorted(
        {file.name for plan in own for file in plan.files if parent(file.name) == plan.folder}
    ):
        if name not in contents:
            say(
                f"{printable(name)} lies in the drop container already, and belongs to the job; delete it "
                "there if it should not"
            )
    return len(own) if outlook.plans else outlook.runs


async def _wait(api: Service, drop: Drop, runs: int, earlier: set[str], at_work: set[str]) -> str:
    """Wait for the jobs of the drop; returns why some are still unknown in the end, or ""."""
    patience = drop.settings.seconds("SLIPWAY_SETTLE_SECONDS") + _PATIENCE
    try:
        for job in await _jobs(api, drop, at_work):
            say(f"{job['id']} runs this job file and script already, with the folder as it was then")
            drop.add(job)
        progress, earlier = chosen_patience().clock(), earlier | at_work
        if len(drop.jobs) < runs:
            say(
                "the job begins when the files have not changed for a moment; waiting for its id (Ctrl-C "
                "leaves it)"
            )
        while len(drop.jobs) < runs:
            fresh = await patiently(partial(_ids, api, drop, limit=LISTED + runs)) - earlier
            earlier = earlier | fresh
            for job in await _jobs(api, drop, fresh):
                drop.add(job)
                progress = chosen_patience().clock()
            if chosen_patience().clock() - progress > patience:
                return f"there is none after {patience:.0f} s"
            await pause(_EVERY)
    except Failure as failure:
        return str(failure)
    return ""


async def _jobs(api: Service, drop: Drop, ids: Collection[str]) -> list[Job]:
    """Those of these jobs that run the files of the upload."""
    jobs: list[Job] = [await patiently(partial(api.job, one)) for one in sorted(ids)]
    return [job for job in jobs if drop.uploaded and _runs(job, drop.uploaded)]


def _runs(job: Job, uploaded: Uploaded) -> bool:
    """Whether a job was accepted with files of this upload. A template, which folders share, is not one."""
    files: Sequence[Job] = job.get("drop", {}).get("files", ())
    own = [one for one in files if one["name"] in uploaded.digests]
    return bool(own) and all(uploaded.digests[one["name"]] == one["sha256"] for one in own)


async def _ids(
    api: Service, drop: Drop, conditions: Mapping[str, str] | None = None, limit: int = LISTED
) -> set[str]:
    """The ids of the jobs of the folder and of those below it."""
    receipts = receipts_of(drop.target)
    jobs = (await api.jobs({"source": "drop,inventory", **(conditions or {})}, limit)).jobs
    return {job["id"] for job in jobs if receipts.fullmatch(job["receipt"])}


def _show(drop: Drop, *, as_json: bool) -> None:
    receipts = f"{drop.settings.text('SLIPWAY_RECEIPTS_CONTAINER')}/{drop.target}/"
    answer = {
        "uploaded": drop.uploaded.names if drop.uploaded else [],
        "receipts": receipts,
        "waits": list(drop.waits),
        "jobs": [{name: job[name] for name in ("id", "name", "state")} for job in drop.jobs],
    }
    show(answer, lambda _: [f"the receipt will be below {receipts}"], as_json=as_json)
