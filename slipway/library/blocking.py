"""The client for Python without `await`: the asynchronous one on an event loop of its own, in a thread.

So it works where a loop runs already, as in a notebook.
"""

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import cache, wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from slipway.client.caller import remembered
from slipway.failure import Failure
from slipway.library.aio import AsyncClient
from slipway.library.aio import Cancelled as AsyncCancelled
from slipway.library.job import AsyncJob
from slipway.library.sweep import AsyncSweep
from slipway.library.sweep import RankedJob as AsyncRankedJob

#: Seconds for which a notebook waits to show a job.
_SOON = 5.0
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
    method: Callable[Concatenate[Any, _P], Coroutine[Any, Any, _T]], give: Callable[[_T], _R]
) -> Callable[Concatenate[Any, _P], _R]:
    """The method, waited for, with its result as `give` makes it of that of the asynchronous one."""

    @wraps(method)
    def wait_for(self: Any, /, *arguments: _P.args, **options: _P.kwargs) -> _R:
        return give(_wait_for(method(self._async, *arguments, **options)))

    if give is not _same:  # what help() and notebooks show: this method's own result
        shown = give if isinstance(give, type) else give.__annotations__["return"]
        signature = inspect.signature(method).replace(return_annotation=shown)
        vars(wait_for)["__signature__"] = signature
        wait_for.__annotations__ = {**method.__annotations__, "return": shown}
    return wait_for


def _same(result: _T) -> _T:
    return result


def _job(job: AsyncJob) -> "Job":
    return Job(job)


class _Waiting:
    """A job or a sweep, which the asynchronous one stands behind."""

    def __init__(self, one: Any) -> None:
        self._async = one
        self.id: str = one.id

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"


class Job(_Waiting):
    """A job at a deployment. A notebook shows its name and its state as it is then."""

    def __repr__(self) -> str:
        return repr(self._async).removeprefix("Async")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What a notebook shows of it; as it was asked last where no answer comes soon."""

        async def details() -> None:
            async with asyncio.timeout(_SOON):
                await self._async.details()

        with suppress(Failure, TimeoutError):
            _wait_for(details())
        printer.text(repr(self))

    details = _blocking(AsyncJob.details, _same)
    wait = _blocking(AsyncJob.wait, _same)
    result = _blocking(AsyncJob.result, _same)
    log = _blocking(AsyncJob.log, _same)
    metrics = _blocking(AsyncJob.metrics, _same)
    curves = _blocking(AsyncJob.curves, _same)
    files = _blocking(AsyncJob.files, _same)
    download = _blocking(AsyncJob.download, _same)
    event_files = _blocking(AsyncJob.event_files, _same)
    cancel = _blocking(AsyncJob.cancel, _same)
    release = _blocking(AsyncJob.release, _same)
    rerun = _blocking(AsyncJob.rerun, _job)


class RankedJob(NamedTuple):
    """A job of a sweep, and the last value of a metric."""

    value: float
    job: Job


def _jobs(jobs: list[AsyncJob]) -> list[Job]:
    return [Job(one) for one in jobs]


def _ranked(jobs: list[AsyncRankedJob]) -> list[RankedJob]:
    return [RankedJob(value, Job(job)) for value, job in jobs]


class Cancelled(NamedTuple):
    """The jobs that were asked to end, and why others were not, by their ids."""

    jobs: list[Job]
    refused: dict[str, str]


def _cancelled(result: AsyncCancelled) -> Cancelled:
    return Cancelled(_jobs(result.jobs), result.refused)


class Sweep(_Waiting):
    """A sweep of jobs at a deployment."""

    details = _blocking(AsyncSweep.details, _same)
    wait = _blocking(AsyncSweep.wait, _same)
    jobs = _blocking(AsyncSweep.jobs, _jobs)
    best = _blocking(AsyncSweep.best, _ranked)
    cancel = _blocking(AsyncSweep.cancel, _same)


class Client:
    """A deployment: by address, else by the environment, the profile of `slipway login`, the local stack."""

    def __init__(self, url: str = "", key: str = "") -> None:
        self._async = AsyncClient(url, key)

    run = _blocking(AsyncClient.run, Job)
    submit = _blocking(AsyncClient.submit, Job)
    submit_sweep = _blocking(AsyncClient.submit_sweep, Sweep)
    sweep = _blocking(AsyncClient.sweep, Sweep)
    job = _blocking(AsyncClient.job, Job)
    jobs = _blocking(AsyncClient.jobs, _jobs)
    cancel_jobs = _blocking(AsyncClient.cancel_jobs, _cancelled)
