"""The client for Python without `await`: the asynchronous one on an event loop of its own, in a thread.

So it works where a loop runs already, as in a notebook.
"""

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine
from functools import cache, wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from shared.answers.job_sweep import SweepDetail
from slipway.client.caller import remembered
from slipway.library.aio import AsyncClient
from slipway.library.job import AsyncJob
from slipway.library.sweep import AsyncSweep

_P = ParamSpec("_P")
_T = TypeVar("_T")
_R = TypeVar("_R")


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="slipway", daemon=True).start()
    return loop


def _wait_for(work: Coroutine[Any, Any, _T]) -> _T:
    """The result of the work; Ctrl-C ends the work, too."""
    with remembered():
        future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result()
    finally:
        future.cancel()


def _blocking(
    method: Callable[Concatenate[AsyncJob, _P], Coroutine[Any, Any, _T]],
) -> Callable[Concatenate["Job", _P], _T]:
    @wraps(method)
    def wait_for(self: "Job", /, *arguments: _P.args, **options: _P.kwargs) -> _T:
        return _wait_for(method(self._job, *arguments, **options))

    return wait_for


def _giving(
    own: Callable[[_T], _R],
) -> Callable[
    [Callable[Concatenate[AsyncClient, _P], Coroutine[Any, Any, _T]]], Callable[Concatenate["Client", _P], _R]
]:
    """A method of the client that gives one of these classes."""

    def blocking(
        method: Callable[Concatenate[AsyncClient, _P], Coroutine[Any, Any, _T]],
    ) -> Callable[Concatenate["Client", _P], _R]:
        @wraps(method)
        def wait_for(self: "Client", /, *arguments: _P.args, **options: _P.kwargs) -> _R:
            return own(_wait_for(method(self._client, *arguments, **options)))

        # What help() and notebooks show: this method's own result.
        signature = inspect.signature(method).replace(return_annotation=own)
        vars(wait_for)["__signature__"] = signature
        wait_for.__annotations__ = {**method.__annotations__, "return": own}
        return wait_for

    return blocking


class Job:
    """A job at a deployment."""

    def __init__(self, job: AsyncJob) -> None:
        self._job = job
        self.id = job.id

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    details = _blocking(AsyncJob.details)
    wait = _blocking(AsyncJob.wait)
    result = _blocking(AsyncJob.result)
    log = _blocking(AsyncJob.log)
    metrics = _blocking(AsyncJob.metrics)
    curves = _blocking(AsyncJob.curves)
    files = _blocking(AsyncJob.files)
    download = _blocking(AsyncJob.download)
    cancel = _blocking(AsyncJob.cancel)


class RankedJob(NamedTuple):
    """A job of a sweep, and the last value of a metric."""

    value: float
    job: Job


class Sweep:
    """A sweep of jobs at a deployment."""

    def __init__(self, sweep: AsyncSweep) -> None:
        self._sweep = sweep
        self.id = sweep.id

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    def details(self) -> SweepDetail:
        """The sweep as it is now: how many of its jobs wait, work and have ended."""
        return _wait_for(self._sweep.details())

    def wait(self, timeout: float | None = None) -> SweepDetail:
        """Wait until all its jobs have ended, however they end; the record then.

        Raises TimeoutError after so many seconds.
        """
        return _wait_for(self._sweep.wait(timeout))

    def jobs(self, **conditions: str) -> list[Job]:
        """Its jobs, newest first, by the conditions of `GET /api/jobs`: state="failed"."""
        return [Job(one) for one in _wait_for(self._sweep.jobs(**conditions))]

    def best(self, metric: str, *, most: bool = False) -> list[RankedJob]:
        """Its jobs by the last value of a metric, the lowest first; the highest first with `most`.

        Jobs that have not reported it, or cannot be asked, are left out.
        """
        ranked = _wait_for(self._sweep.best(metric, most=most))
        return [RankedJob(value, Job(job)) for value, job in ranked]

    def cancel(self) -> SweepDetail:
        """Ask for the end of every job of it."""
        return _wait_for(self._sweep.cancel())


class Client:
    """A deployment: by address, else by the environment, the profile of `slipway login`, the local stack."""

    def __init__(self, url: str = "", key: str = "") -> None:
        self._client = AsyncClient(url, key)

    run = _giving(Job)(AsyncClient.run)
    submit = _giving(Job)(AsyncClient.submit)
    job = _giving(Job)(AsyncClient.job)
    submit_sweep = _giving(Sweep)(AsyncClient.submit_sweep)
    sweep = _giving(Sweep)(AsyncClient.sweep)

    def jobs(self, *, limit: int = 50, **conditions: str) -> list[Job]:
        """The newest jobs that fit, by the conditions of `GET /api/jobs`: state="failed", since="2h"."""
        return [Job(one) for one in _wait_for(self._client.jobs(limit=limit, **conditions))]
