"""The client for Python, asynchronous: the same steps as the commands, by the same code.

Every method raises Failure, with the remedy, where the service refuses or does not answer.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from shared.core.identity import is_job_id
from slipway.client.caller import warn_caller
from slipway.client.jobs.naming import job_id, sweep_id, unmeant
from slipway.client.request.compose import Choices
from slipway.client.request.order import Order
from slipway.client.request.terms import Priority, Terms, time_limit
from slipway.client.service import service
from slipway.client.snapshot.submission import submit_folder
from slipway.failure import Failure
from slipway.library.job import AsyncJob
from slipway.library.sweep import AsyncSweep


class JobReference(Protocol):
    """A job, as a client returns it."""

    @property
    def id(self) -> str:
        """By which the API and every command name the job: j_ and 24 characters."""


class Cancelled(NamedTuple):
    """The jobs that were asked to end, and why others were not, by their ids."""

    jobs: list[AsyncJob]
    refused: dict[str, str]


class AsyncClient:
    """A deployment: by address, else by the environment, the profile of `slipway login`, the local stack."""

    def __init__(self, url: str = "", key: str = "") -> None:
        self._url = url or os.environ.get("SLIPWAY_URL", "")
        self._key = key or os.environ.get("SLIPWAY_KEY", "")

    async def run(
        self,
        path: str | os.PathLike[str],
        *arguments: str,
        nodes: int | None = None,
        image: str = "",
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        cluster: str = "",
        gpus: int | None = None,
        time: str | timedelta = "",
        retry: int | None = None,
        priority: Priority | None = None,
        labels: Mapping[str, str] | None = None,
        experiment: str = "",
        notify: Sequence[str] = (),
        hold: str | timedelta = "",
        name: str = "",
        script: str = "",
        after: Sequence[str | JobReference] = (),
        after_failure: Sequence[str | JobReference] = (),
        idempotency_key: str = "",
    ) -> AsyncJob:
        """Send a script or a folder, as `slipway run` does; the job that begins by it.

        It waits until the jobs in `after` have succeeded, and those in `after_failure` have ended otherwise.
        It may run for `time` (`"4h"`), has `retry` more attempts after a failure of its own, and keeps its
        nodes after the last one for `hold` (`"30m"`); the webhooks in `notify` learn how it ended. `secrets`
        are variables whose values are sealed. `script` is the one of a folder that runs, by default that
        which `slipway run` chooses. Standard error shows what happens.
        """
        from slipway.client.request.request import Options
        from slipway.client.request.send import submitted

        if not os.fspath(path).strip():
            raise Failure("no path is named: name a script, or a folder with one")
        order = await self._order(after, after_failure)
        how_long, hold_length = time_limit(time), time_limit(hold, "hold")
        terms = Terms(how_long, priority, retry, dict(labels or {}), experiment, notify, hold_length)
        variables, sealed = dict(env or {}), dict(secrets or {})
        choices = Choices(nodes, image, variables, arguments, cluster, gpus, order, sealed, terms)
        options = Options(choices, name, script=script, one_job=True, once=idempotency_key)
        job = await submitted(Path(path), options, self._url, self._key)
        _warn_of_name(job)
        return self._job(str(job["id"]))

    async def submit(
        self,
        document: Mapping[str, Any],
        *,
        after: Sequence[str | JobReference] = (),
        after_failure: Sequence[str | JobReference] = (),
        code: str | os.PathLike[str] | None = None,
        idempotency_key: str = "",
    ) -> AsyncJob:
        """Submit a job.json, or an envelope with one; the job that it made or, by the same key, joined.

        It waits for the jobs in `after` and `after_failure`, as those of `run` do. `code` is a folder, in a
        copy of which it runs.
        """
        import json

        from slipway.client.request.order import in_order

        if document.get("sweep") is not None:
            raise Failure("this message has a sweep, which makes several jobs; submit it with submit_sweep()")
        document = in_order(document, await self._order(after, after_failure))
        async with service(self._url, self._key) as api:
            if code is not None:
                job = await submit_folder(api, document, Path(code), key=idempotency_key)
            else:
                job = await api.submit(json.dumps(document).encode(), idempotency_key or None)
            _warn_of_name(job)
            return self._job(job["id"])

    async def submit_sweep(
        self,
        document: Mapping[str, Any],
        *,
        code: str | os.PathLike[str] | None = None,
        idempotency_key: str = "",
    ) -> AsyncSweep:
        """Submit a message with a sweep; the sweep that it made or, by the same key, joined.

        `code` is a folder, in a copy of which each job runs.
        """
        import json

        if document.get("sweep") is None:
            raise Failure("this message has no sweep, so it makes one job; submit it with submit()")
        async with service(self._url, self._key) as api:
            if code is not None:
                body = await submit_folder(api, document, Path(code), key=idempotency_key)
            else:
                body = await api.submit_sweep(json.dumps(document).encode(), idempotency_key or None)
            _warn_of_name({"name": body.get("name", ""), "id": body["sweepId"]})
            return await self.sweep(body["sweepId"])

    async def sweep(self, sweep: str) -> AsyncSweep:
        """A sweep by its id, the beginning of it, its name (then the latest), or `last`."""
        async with service(self._url, self._key) as api:
            return AsyncSweep(await sweep_id(api, sweep), self._url, self._key)

    async def job(self, job: str) -> AsyncJob:
        """A job by its id, the beginning of it, its name (then the latest), or `last`."""
        async with service(self._url, self._key) as api:
            return self._job(await job_id(api, job))

    async def jobs(self, /, *, limit: int = 50, **conditions: str) -> list[AsyncJob]:
        """The newest jobs that fit, by the conditions of `GET /api/jobs`: state="failed", since="2h"."""
        async with service(self._url, self._key) as api:
            return [self._job(one["id"]) for one in (await api.jobs(conditions, limit)).jobs]

    async def cancel_jobs(self, /, *, expected: int, **conditions: str) -> Cancelled:
        """Cancel all jobs that fit, if they are as many as expected: owner="ann", state="queued".

        Raises Failure, with the number that fits, if that is another one.
        """
        async with service(self._url, self._key) as api:
            answer = await api.cancel_jobs(conditions, expected)
            refused = {one["id"]: one["why"] for one in answer["refused"]}
            return Cancelled([self._job(one["id"]) for one in answer["jobs"]], refused)

    async def _order(
        self, after: Sequence[str | JobReference], after_failure: Sequence[str | JobReference]
    ) -> Order:
        """The jobs that another one is to wait for, by their ids; asks only for what is named by a text."""
        order = Order(_references(after), _references(after_failure))
        if all(map(is_job_id, (*order.after, *order.after_failure))):
            return order
        async with service(self._url, self._key) as api:
            return await order.ids(api)

    def _job(self, job_id: str) -> AsyncJob:
        return AsyncJob(job_id, self._url, self._key)


def _warn_of_name(job: Mapping[str, Any]) -> None:
    """Warn of a name that neither the client nor a command takes for this job, or sweep."""
    if hint := unmeant(job):
        warn_caller(hint)


def _references(jobs: Sequence[str | JobReference]) -> list[str]:
    return [job if isinstance(job, str) else job.id for job in jobs]
