"""The timer trigger: one occurrence after the other, never two at once.

Sources: TimerListener.cs, TimerSchedule.cs and StorageScheduleMonitor.cs of the WebJobs extensions.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from azure.core.exceptions import AzureError, ResourceNotFoundError
from azure.storage.blob.aio import BlobServiceClient

from local.host.settings import SettingsError, resolve
from local.host.storage import HOSTS_CONTAINER
from local.host.triggers.base import Environment
from local.host.triggers.lease import hold
from local.host.triggers.schedule import Schedule, parse_schedule
from local.host.worker.contract import Data, Function

_log = logging.getLogger("Host.timer")
_LONGEST_SLEEP = 30.0
_RETRIABLE = ("fixed_delay", "exponential_backoff")


def _utc_now() -> datetime:
    return datetime.now(UTC)


async def timer(function: Function, environment: Environment) -> "Timer":
    """The timer of a function with a timerTrigger; raises SettingsError."""
    schedule = schedule_of(function, environment.settings)
    blobs = await environment.accounts.blobs("", f"function {function.name}")
    return Timer(function, schedule, environment, blobs, _utc_now)


def schedule_of(function: Function, settings: Mapping[str, str]) -> Schedule:
    """When a function with a timerTrigger runs. Raises SettingsError."""
    where = f"function {function.name}"
    text = resolve(str(function.trigger["schedule"]), settings, where)
    try:
        return parse_schedule(text)
    except ValueError as error:
        raise SettingsError(f"{where}: schedule: {error}") from error


class Timer:
    """Fires one function at the times of its schedule, in one host of many."""

    def __init__(
        self,
        function: Function,
        schedule: Schedule,
        environment: Environment,
        blobs: BlobServiceClient,
        clock: Callable[[], datetime],
    ) -> None:
        self._function = function
        self._schedule = schedule
        self._environment = environment
        self._clock = clock
        trigger = function.trigger
        self._monitored = trigger.get("useMonitor") is not False and not schedule.is_fast(clock())
        name = f"Host.Functions.{function.name}"
        self._hosts = blobs.get_container_client(HOSTS_CONTAINER)
        self._lock = f"locks/{environment.id}/{name}.Listener"
        self._status = blobs.get_blob_client(HOSTS_CONTAINER, f"timers/{environment.id}/{name}/status")
        self._runs: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Fire until cancelled, while this host holds the lock; a run in progress goes on, see `drain`."""
        while True:
            async with hold(
                self._hosts, self._lock, f"timer {self._function.name}", self._environment.times
            ) as lost:
                schedule = asyncio.create_task(self._follow())
                loss = asyncio.create_task(lost.wait())
                try:
                    await asyncio.wait({schedule, loss}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    schedule.cancel()
                    loss.cancel()
                    await asyncio.wait({schedule, loss})
                if not schedule.cancelled() and (error := schedule.exception()) is not None:
                    raise error
                if not lost.is_set():
                    return  # no occurrence is left

    async def drain(self, grace: float) -> None:
        """Let a run in progress finish for `grace` seconds."""
        if self._runs:
            _, late = await asyncio.wait(self._runs, timeout=grace)
            for task in late:
                task.cancel()

    async def fire(self, *, past_due: bool = False, status: dict[str, Any] | None = None) -> None:
        """Run the function now; its errors do not end the timer."""
        request = {
            "Schedule": {"AdjustForDST": True},
            "ScheduleStatus": status,
            "IsPastDue": past_due,
        }
        policy = self._function.retry
        await self._environment.invoker.run(
            self._function,
            {self._function.trigger["name"]: Data("json", json.dumps(request))},
            {},
            reason="timer, past due" if past_due else "timer",
            retry=policy if policy is not None and policy.strategy in _RETRIABLE else None,
        )

    async def _follow(self) -> None:
        status = await self._read_status() if self._monitored else None
        now = self._clock()
        next_due = self._schedule.next(now)
        if self._monitored and (status is None or not follows(status, self._schedule, now)):
            last = _time(status.get("Last")) if status is not None else None
            status = _status(last, next_due, now)
            await self._write_status(status)
        if self._function.trigger.get("runOnStartup"):
            next_due = await self._occur(status, past_due=False)
        elif (
            status is not None
            and (missed := _time(status.get("Next"))) is not None
            and missed < self._clock()
        ):
            _log.info("timer %s missed %s and fires now", self._function.name, missed.isoformat())
            next_due = await self._occur(status, past_due=True)
        while next_due is not None:
            await self._sleep_until(next_due)
            next_due = await self._occur(status, past_due=False)

    async def _occur(self, status: dict[str, Any] | None, *, past_due: bool) -> datetime | None:
        """One run and its record; what came due during the run follows at once, so that none overlaps."""
        began = self._clock()
        run = asyncio.create_task(self.fire(past_due=past_due, status=status))
        self._runs.add(run)
        run.add_done_callback(self._runs.discard)
        await asyncio.shield(run)  # ending the schedule does not end the run
        next_due = self._schedule.next(began)
        if status is not None:
            status.update(_status(began, next_due, self._clock()))
            await self._write_status(status)
        return next_due

    async def _sleep_until(self, due: datetime) -> None:
        """Short sleeps against the wall clock, which may be set while we sleep."""
        while (seconds := (due - self._clock()).total_seconds()) > 0:  # noqa: ASYNC110 - the clock has no event
            await asyncio.sleep(min(seconds, _LONGEST_SLEEP))

    async def _read_status(self) -> dict[str, Any] | None:
        try:
            content = await (await self._status.download_blob()).readall()
            status = json.loads(content)
        except (ResourceNotFoundError, ValueError):
            return None
        except AzureError as error:
            _log.warning(
                "the status of timer %s cannot be read: %s", self._function.name, type(error).__name__
            )
            return None
        return status if isinstance(status, dict) else None

    async def _write_status(self, status: dict[str, Any]) -> None:
        try:
            await self._status.upload_blob(json.dumps(status).encode(), overwrite=True)
        except AzureError as error:
            _log.warning(
                "the status of timer %s cannot be written: %s", self._function.name, type(error).__name__
            )


def follows(status: Mapping[str, Any], schedule: Schedule, now: datetime) -> bool:
    """Whether the stored next occurrence is the one after the last by this schedule.

    Otherwise the schedule has changed, and nothing was missed: ScheduleMonitor.CheckPastDueAsync.
    """
    last = _time(status.get("Last"))
    return _time(status.get("Next")) == schedule.next(now if last is None else last)


def _status(last: datetime | None, next_due: datetime | None, now: datetime) -> dict[str, Any]:
    nothing = datetime(1, 1, 1, tzinfo=UTC)
    return {
        "Last": (last or nothing).isoformat(),
        "Next": (next_due or nothing).isoformat(),
        "LastUpdated": now.isoformat(),
    }


def _time(text: Any) -> datetime | None:
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return None if at.year == 1 else at
