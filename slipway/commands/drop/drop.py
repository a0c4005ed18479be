"""`slipway drop`: upload a folder, and name the jobs that it starts, if the API shows them."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from shared.intake.drops.folder import ENVELOPE_FILE, parent
from shared.intake.drops.plan import Plan
from shared.settings import Settings
from slipway.client.calls.patience import chosen_patience, patiently, pause
from slipway.client.drops.folder import check, check_folder, outlook_of, target_of
from slipway.client.drops.upload import Uploaded, runs_the_same, upload
from slipway.client.jobs.naming import unmeant
from slipway.client.jobs.words import rejection, standing
from slipway.client.request.secrets import refuse_secrets
from slipway.client.service import Service, service
from slipway.client.storage.folder_lease import folder_lease
from slipway.client.storage.upload_settings import upload_settings
from slipway.commands.asking import show
from slipway.commands.drop.foresee import foresee
from slipway.failure import Failure
from slipway.settings import address_beside
from slipway.terminal.screen import put, remark, say

#: How many jobs are searched for the new ones, and how many active jobs for those of the same folder.
LISTED, ACTIVE = 50, 1000
#: Seconds between two looks at the jobs; without another job, after the folder has been quiet, until the end.
_EVERY, _PATIENCE = 1.0, 60.0
_FIND = "find it: slipway jobs --source drop,inventory --limit 5"
#: The exit code of a shell command that Ctrl-C ended.
_INTERRUPTED = 130
#: Of a file that is only in the container: which of the two, nothing there tells.
_ORIGIN = "an earlier upload or a job left there"

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
    uploaded: Uploaded | None = None
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


def run(
    folder: Path,
    to: str,
    url: str,
    key: str,
    settings_file: Path | None,
    *,
    force: bool = False,
    as_json: bool = False,
) -> int:
    """Upload, show each file and each job; with `force`, also upload what cannot run. Raises Failure.

    The exit code is 1 if a job was rejected without `force`.
    """
    check_folder(folder)
    url = url or address_beside(settings_file)
    settings = asyncio.run(upload_settings(url, key, settings_file))
    drop = checked(folder, to, settings, force=force, quiet=as_json)
    try:
        waits = asyncio.run(carry_out(drop, url, key))
    except KeyboardInterrupt:
        begins = f"its job begins; {_FIND}" if drop.uploaded else "not all files were uploaded"
        say(begins)
        return _INTERRUPTED
    _show(drop, waits, as_json=as_json)
    return int(not force and any(job["state"] == "rejected" for job in drop.jobs))


def checked(folder: Path, to: str, settings: Settings, *, force: bool, quiet: bool) -> Drop:
    """A drop of the folder. Raises Failure for one that cannot run, or has a secret."""
    target = target_of(folder, to)
    if not force:
        check(folder, target)
    refuse_secrets(folder, force=force)
    return Drop(settings, folder, target, force, quiet)


async def carry_out(drop: Drop, url: str, key: str) -> Sequence[str]:
    """Upload, and wait for the jobs; returns why nothing runs yet, if so. Raises Failure."""
    async with AsyncExitStack() as ends:
        api, trouble, others = None, "", set[str]()
        try:
            api = await ends.enter_async_context(service(url, key))
            others = await _ids(api, drop)
        except Failure as failure:
            api, trouble = None, str(failure)
        lease = await ends.enter_async_context(folder_lease(drop.settings, drop.target))
        joined = await _joined(api, drop) if api else []
        if not drop.force:
            await foresee(drop.settings, drop.folder, drop.target, api)
        drop.uploaded = uploaded = await upload(drop.settings, drop.folder, drop.target, remarks=drop.force)
        if not drop.quiet:  # before the next query, which may fail
            put(*(f"uploaded {name}" for name in uploaded.names))
        outlook = await outlook_of(drop.settings, uploaded.names)
        for wait in outlook.waits:
            remark(f"warning: nothing runs yet: {wait}")
        plans = await _begun(outlook.plans, uploaded, api, others)
        runs = len(plans) if outlook.plans else outlook.runs
        for line in _leftovers(plans, uploaded):
            say(line)
        for job in joined:
            if not outlook.plans or any(_is_job_of(job, plan) for plan in plans):
                say(f"{job['id']} runs the same files already")
                drop.add(job)
        try:
            if api and len(drop.jobs) < runs:
                trouble = await _wait(api, drop, uploaded, runs, others)
        except asyncio.CancelledError:
            lease.outlasts = True  # after a Ctrl-C the job still starts
            raise
        if trouble and runs:
            say(f"the id of the job is not known: {trouble}; it begins all the same, {_FIND}")
        return outlook.waits


async def _begun(
    plans: Sequence[Plan], uploaded: Uploaded, api: Service | None, ids: Iterable[str]
) -> list[Plan]:
    """The runs that an upload starts, without those whose files were all there already.

    An envelope restarts a run that was rejected with the same files; `ids` are the earlier jobs.
    """
    own = [
        one for one in plans if one.problems or any(file.name in uploaded.digests for file in one.own_files)
    ]
    again = [
        one for one in plans if one not in own and one.envelope and one.envelope.name in uploaded.digests
    ]
    if api is None or not again:
        return own
    jobs = [await patiently(partial(api.job, one)) for one in ids]

    def is_rejected(plan: Plan) -> bool:
        return {job["state"] for job in jobs if _is_job_of(job, plan, same=True)} == {"rejected"}

    return [one for one in plans if one in own or (one in again and is_rejected(one))]


def _is_job_of(job: Job, plan: Plan, *, same: bool = False) -> bool:
    """Whether a job is of this run, not of another script or a folder below; `same`: with these versions."""
    etags = {file["name"]: file.get("etag") for file in job.get("drop", {}).get("files", ())}
    return all(file.name in etags and (not same or etags[file.name] == file.etag) for file in plan.own_files)


def _leftovers(plans: Sequence[Plan], uploaded: Uploaded) -> list[str]:
    """Remarks on files of these runs that are only in the container."""
    files = {file.name for plan in plans for file in plan.files if parent(file.name) == plan.folder}
    names = sorted(files - {*uploaded.digests})
    return [
        f"{uploaded.container}/{name}, which {_ORIGIN}, counts as well; it may be deleted"
        if name.endswith(f"/{ENVELOPE_FILE}")
        else f"{uploaded.container}/{name}, which the job needs, {_ORIGIN}; this upload has none"
        for name in names
    ]


async def _joined(api: Service, drop: Drop) -> list[Job]:
    """The jobs at work with the same files. Raises Failure for one without code that would get others."""
    joined = list[Job]()
    for job in [await api.job(one) for one in sorted(await _ids(api, drop, {"state": "active"}, ACTIVE))]:
        if runs_the_same(job, drop.folder, drop.target):
            joined.append(job)
        elif not drop.force and job.get("code") is None:
            raise Failure(
                f"{job['id']} runs from the folder {drop.target}, and would get other files; wait for its "
                f"end (slipway wait {job['id']}), drop this into a folder of its own (--to), or use --force"
            )
    return joined


async def _wait(api: Service, drop: Drop, uploaded: Uploaded, runs: int, others: set[str]) -> str:
    """Wait for the jobs of the drop; returns why some are still unknown in the end, or ""."""

    async def new() -> list[Job]:
        fresh = await _ids(api, drop, limit=LISTED + runs) - others
        return [await api.job(one) for one in sorted(fresh)]

    say("the job begins when the files have not changed for a moment; waiting for its id (Ctrl-C leaves it)")
    patience = drop.settings.seconds("SLIPWAY_SETTLE_SECONDS") + _PATIENCE
    progress = chosen_patience().clock()
    try:
        while len(drop.jobs) < runs:
            for job in await patiently(new):
                others.add(job["id"])
                if _is_of(job, uploaded):
                    drop.add(job)
                    progress = chosen_patience().clock()
            if chosen_patience().clock() - progress > patience:
                return f"there is none after {patience:.0f} s"
            await pause(_EVERY)
    except Failure as failure:
        return str(failure)
    return ""


async def _ids(
    api: Service, drop: Drop, conditions: Mapping[str, str] | None = None, limit: int = LISTED
) -> set[str]:
    """The ids of the jobs of the folder and of those below it."""
    receipts = receipts_of(drop.target)
    jobs = (await api.jobs({"source": "drop,inventory", **(conditions or {})}, limit)).jobs
    return {job["id"] for job in jobs if receipts.fullmatch(job["receipt"])}


def _is_of(job: Job, uploaded: Uploaded) -> bool:
    """Whether it was accepted with a file of this upload."""
    files: Sequence[Job] = job.get("drop", {}).get("files", ())
    return any(file.get("etag", "") == uploaded.etags.get(file["name"]) for file in files)


def _show(drop: Drop, waits: Sequence[str], *, as_json: bool) -> None:
    receipts = f"{drop.settings.text('SLIPWAY_RECEIPTS_CONTAINER')}/{drop.target}/"
    answer = {
        "uploaded": drop.uploaded.names if drop.uploaded else [],
        "receipts": receipts,
        "waits": list(waits),
        "jobs": [{name: job[name] for name in ("id", "name", "state")} for job in drop.jobs],
    }
    show(answer, lambda _: [f"the receipt will be below {receipts}"], as_json=as_json)
