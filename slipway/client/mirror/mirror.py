"""Keeps the event files of several jobs on this disk: a round of looks every few seconds, until all ended."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from slipway.client.calls.patience import patiently, pause
from slipway.client.files.output import PARALLEL
from slipway.client.files.room import Room
from slipway.client.jobs.naming import job_id, sweep_id
from slipway.client.mirror.allowance import Allowance
from slipway.client.mirror.job import JobMirror, Say
from slipway.client.service import Service
from slipway.failure import Failure
from slipway.terminal.screen import say

#: Seconds between two rounds, and while files are behind.
_EVERY, _SOON = 10.0, 1.0
#: Requests of a round, beside those for the records of the jobs; and of one job in it.
MOST_OF_ROUND, MOST_OF_JOB = 512, 64
#: Jobs of a sweep.
_MOST_JOBS = 1_000


@dataclass(frozen=True)
class Chosen:
    """Ids of jobs, and of sweeps, all of whose jobs are meant."""

    jobs: Sequence[str]
    sweeps: Sequence[str]


async def chosen(api: Service, words: Sequence[str]) -> Chosen:
    """The jobs and sweeps that a person names; a name that no job has is of a sweep. Raises Failure."""
    jobs, sweeps = list[str](), list[str]()
    for word in words:
        try:
            jobs.append(await job_id(api, word))
        except Failure as no_job:
            try:
                sweeps.append(await sweep_id(api, word))
            except Failure as no_sweep:
                raise (no_sweep if word.startswith("s_") else no_job) from None
    return Chosen(list(dict.fromkeys(jobs)), list(dict.fromkeys(sweeps)))


class Mirror:
    """The event files of these jobs below a directory."""

    def __init__(self, api: Service, jobs: Chosen, to: Path, tell: Say = say) -> None:
        self._api, self._jobs, self._to, self._tell = api, jobs, to, tell
        self._room = Room(to)
        #: by id; the job that was looked at last is at the end
        self._mirrors = dict[str, JobMirror]()
        self._ended_sweeps, self._last_trouble = set[str](), ""

    async def follow(self) -> None:
        """Keep them as the jobs write them, until all of the jobs have ended and everything is here."""
        try:
            while not await self.round():
                await pause(_EVERY if self._is_current else _SOON)
        finally:
            self._close()

    async def catch_up(self) -> None:
        """Append once what the jobs have added so far."""
        try:
            while not (await self.round() or self._is_current):
                await pause(_SOON)
        finally:
            self._close()

    @property
    def _is_current(self) -> bool:
        return all(one.is_current for one in self._mirrors.values() if not one.is_done)

    def _close(self) -> None:
        for mirror in self._mirrors.values():
            mirror.close()

    async def round(self) -> bool:
        """Append what is new, with a bounded number of requests; whether all jobs ended and all is here."""
        try:
            records = await self._records()
        except Failure as failure:  # said once: the next round asks again
            if str(failure) != self._last_trouble:
                self._tell(str(failure))
            self._last_trouble = str(failure)
            return False
        self._last_trouble = ""
        for identity, record in records.items():
            if identity not in self._mirrors:
                self._mirrors[identity] = JobMirror(self._api, record, self._to, self._room, self._tell)
        ahead = [one for one in [*self._mirrors.values()] if not one.is_done and one.id in records]
        shared, at_once = Allowance(MOST_OF_ROUND), asyncio.Semaphore(PARALLEL)

        async def update(mirror: JobMirror) -> None:
            async with at_once:
                if not shared.spent:
                    self._mirrors[mirror.id] = self._mirrors.pop(mirror.id)
                    await mirror.update(records[mirror.id], Allowance(MOST_OF_JOB, shared))

        await asyncio.gather(*map(update, ahead))
        return self._ended_sweeps.issuperset(self._jobs.sweeps) and all(map(self._is_done, self._mirrors))

    async def _records(self) -> dict[str, Mapping[str, Any]]:
        """The jobs as they are now, but for those that are done. Raises Failure."""
        records = dict[str, Mapping[str, Any]]()
        for job in self._jobs.jobs:
            if not self._is_done(job):
                records[job] = await patiently(partial(self._api.job, job))
        for sweep in self._jobs.sweeps:
            if sweep in self._ended_sweeps:
                continue
            state = (await patiently(partial(self._api.sweep, sweep)))["state"]
            members = (await patiently(partial(self._api.jobs, {"sweep": sweep}, _MOST_JOBS))).jobs
            records |= {str(job["id"]): job for job in members if not self._is_done(str(job["id"]))}
            if state == "ended" and all(self._is_done(str(job["id"])) for job in members):
                self._ended_sweeps.add(sweep)
        return records

    def _is_done(self, job: str) -> bool:
        return job in self._mirrors and self._mirrors[job].is_done
