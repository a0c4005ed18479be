"""From a folder to the job that it starts: the upload, and the search for its own job."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared.intake.drops.folder import ENVELOPE_FILE, JOB_FILE, parent
from shared.settings import Settings
from slipway.client.folder_lease import folder_lease
from slipway.client.patience import patiently, pause
from slipway.client.service import Service, service
from slipway.commands.drop import etag_of, outlook_of, target_of
from slipway.commands.running.foresee import foresee
from slipway.commands.running.upload import Uploaded, runs_the_same, upload
from slipway.failure import Failure
from slipway.screen import say
from slipway.terminal import printable

if TYPE_CHECKING:
    from slipway.client import shapes

#: Seconds between two looks at the jobs.
_EVERY = 1.0
#: Polls after which the command shows what may be wrong: an app looks at a quiet folder within seconds.
_LOOKS = 20
#: How many jobs are searched for the new one.
LISTED = 50
#: How many active jobs are searched for one of the same folder.
ACTIVE = 1000
#: The label of a job that was sent to the app, while its files went to a folder.
FOLDER_LABEL = "folder"
#: Files that are only in the container, as many as are named.
_SHOWN = 3


def receipts_of(folder: str, *, deep: bool = False) -> re.Pattern[str]:
    """The names of the receipts of a folder's jobs; `deep`: also of the folders below it."""
    below = "(?:[^/]+/)*" if deep else ""
    return re.compile(rf"[^/]+/{re.escape(folder)}/{below}[^/]+/receipt\.json")


class Beginning:
    """One upload. Its job is the one that was accepted with the job.json of this upload, by its ETag.

    Another upload into the same folder would replace this one, or join its job; both are refused.
    """

    def __init__(
        self, settings: Settings, folder: Path, name: str, *, is_drop: bool = False, force: bool = False
    ) -> None:
        """`is_drop`: for `slipway drop`, which keeps a slipway.json of an earlier upload, as storage does."""
        self._settings, self._folder, self._name, self._force = settings, folder, name, force
        self._is_drop = is_drop
        other = ("drop this into a folder", "--to") if is_drop else ("run this under a name", "--name")
        self._elsewhere = " of its own: ".join(other)
        self._target = target_of(folder, name)
        self._receipt = receipts_of(self._target)
        self._uploaded: Uploaded | None = None
        self._before: set[str] = set()
        #: its job as it was accepted; empty before
        self.accepted: Mapping[str, Any] = {}

    @property
    def files(self) -> list[str]:
        """What was uploaded, by its path in the folder."""
        return (
            [name.removeprefix(f"{self._target}/") for name in self._uploaded.digests]
            if self._uploaded
            else []
        )

    async def job(self, url: str, key: str) -> str:
        """Upload the changed files, and return the id of the job that starts. Raises Failure.

        Until that job exists, no other upload goes into its folder; from then on the job prevents that.
        """
        async with service(url, key) as api, folder_lease(self._settings, self._target) as lease:
            if active := await self._active(api):
                raise Failure(await self._in_the_way(api, min(active)))
            if not self._force:
                await foresee(self._settings, self._folder, self._target, api)
            self._before = await self._ids(api, {})
            uploaded = await upload(
                self._settings,
                self._folder,
                self._name,
                changed=True,
                own_envelope=not self._is_drop,
                remarks=self._force,
            )
            self._uploaded = uploaded
            folder = f"{uploaded.container}/{self._target}/"
            files = f"{uploaded.number} of {len(uploaded.names)} files, the others were there"
            files = files if uploaded.number < len(uploaded.names) else _counted(uploaded.number)
            say(f"uploaded {files}, to {folder}; the job starts when they have not changed for a moment")
            if leftovers := _leftovers(f"{self._target}/", uploaded.others):
                say(
                    f"{folder} also has files that an earlier upload or a job left there, and the job sees "
                    f"them: {leftovers}; delete them there, or {self._elsewhere}"
                )
            try:
                if waits := (await outlook_of(self._settings, uploaded.names)).waits:
                    raise Failure(f"nothing runs yet: {'; '.join(waits)}")
                return await self._own(api, uploaded, self._before)
            except asyncio.CancelledError:
                lease.outlasts = True  # after a Ctrl-C the job still starts
                raise

    async def _active(self, api: Service) -> set[str]:
        """The active jobs that run from the folder."""
        dropped = await self._ids(api, {"state": "active"}, ACTIVE)
        label = {"label": f"{FOLDER_LABEL}={self._target}"}
        posted = (await api.jobs({"state": "active", **label}, ACTIVE)).jobs
        return dropped | {job["id"] for job in posted}

    async def _in_the_way(self, api: Service, job_id: str) -> str:
        """Why no second job starts while one runs from the same folder."""
        same = runs_the_same(await api.job(job_id), self._folder, self._target)
        what = "with the same files" if same else "and would get other files"
        follow, wait = (
            f"follow it (slipway log --follow {job_id})",
            f"wait for its end (slipway wait {job_id})",
        )
        return (
            f"{job_id} runs from the folder {self._target}, {what}; {follow if same else wait}, "
            f"or {self._elsewhere}"
        )

    @property
    def begins(self) -> bool:
        """Whether all files were uploaded, so that a job starts."""
        return self._uploaded is not None

    async def late(self, url: str, key: str) -> str:
        """The id of the job that still starts after a Ctrl-C. Raises Failure."""
        if self._uploaded is None:
            raise Failure(self.interrupted())
        async with service(url, key, met=True) as api:
            return await self._own(api, self._uploaded, self._before)

    def interrupted(self) -> str:
        """The message after a Ctrl-C."""
        if self._uploaded is None:
            return "not all files were uploaded, so no job begins"
        return (
            f"all files are in {self._uploaded.container}/{self._target}/, so their job begins; find it with "
            "slipway jobs --source drop,inventory --limit 5, and end it with slipway cancel JOB"
        )

    async def _own(self, api: Service, uploaded: Uploaded, others: set[str]) -> str:
        """The job that was accepted with the uploaded files; `others` are known not to be it."""
        name, looks, replaced = f"{self._target}/{JOB_FILE}", 0, False
        while True:
            for job_id in await patiently(lambda: self._ids(api, {})) - others:
                others.add(job_id)
                job = await _patient_job(api, job_id)
                if _is_own(job, name, uploaded):
                    self.accepted = job
                    return job_id
            if replaced:
                raise Failure(
                    f"another upload replaced {uploaded.container}/{name} before this one began; "
                    f"{self._elsewhere}"
                )
            replaced = await etag_of(self._settings, uploaded.container, name) != uploaded.etag
            await pause(_EVERY)
            if (looks := looks + 1) == _LOOKS:
                say(
                    "there is no job yet; does the app see the container (…/api/health), and would you see "
                    "the job: does the folder belong to a team of yours (slipway teams show)?"
                )

    async def _ids(self, api: Service, conditions: dict[str, str], limit: int = LISTED) -> set[str]:
        jobs = (await api.jobs({"source": "drop,inventory", **conditions}, limit)).jobs
        return {job["id"] for job in jobs if self._receipt.fullmatch(job["receipt"])}


def _leftovers(folder: str, names: Sequence[str]) -> str:
    """The first files that are only in the container, without those of other jobs below the folder."""
    jobs = {parent(name) for name in names if name.endswith(f"/{JOB_FILE}")} - {folder}
    own = [name.removeprefix(folder) for name in names if not name.startswith(tuple(jobs))]
    own.sort(key=lambda name: name != ENVELOPE_FILE)  # which configures the job
    shown = [printable(name) for name in own[:_SHOWN]]
    shown += [f"{more:,} more"] if (more := len(own) - _SHOWN) > 0 else []
    return ", ".join(shown)


def _counted(files: int) -> str:
    return f"{files} file{'' if files == 1 else 's'}"


async def _patient_job(api: Service, job_id: str) -> shapes.JobDetail:
    return await patiently(lambda: api.job(job_id))


def _is_own(job: Mapping[str, Any], name: str, uploaded: Uploaded) -> bool:
    """Whether it was accepted with the job.json of this upload. Raises Failure where two uploads met."""
    files = {file["name"]: file for file in job.get("drop", {}).get("files", ())}
    own = name in files and files[name].get("etag") == uploaded.etag
    # A job may have what its upload has not: a shared script, the slipway.json of an earlier upload.
    same = name in files and all(
        files[one]["sha256"] == uploaded.digests[one] for one in {*files} & {*uploaded.digests}
    )
    if own and not same:
        raise Failure(f"{job['id']} runs scripts of another upload; end it: slipway cancel {job['id']}")
    if same and not own:
        raise Failure(f"{job['id']} runs the same files already; follow it: slipway log --follow {job['id']}")
    return own
