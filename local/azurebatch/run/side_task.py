"""Runs a command on a node beside its tasks, to the end: a start task, a job's preparation or its release."""

import asyncio
import itertools
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from local.azurebatch.run.command_line import argv_of
from local.azurebatch.run.endings import Failure, ended_by, failure
from local.azurebatch.run.environment import settings_of
from local.azurebatch.run.transfer import fetch
from local.azurebatch.state.moment import duration, stamp
from local.nodes import tasks
from local.nodes.launcher import Launcher

#: Seconds until a command that failed runs again, and how often they are doubled.
_PAUSE, _DOUBLED = 0.1, 8


@dataclass(frozen=True)
class SideTask:
    """A command. `place`: its directory on the node; `processes`: the directory that names its process.

    `document` is what its author wrote, `env` the variables of the node.
    """

    document: Mapping[str, Any]
    env: Mapping[str, str]
    place: Path
    processes: Path

    async def run(
        self, launcher: Launcher, clock: Callable[[], datetime], goes_on: Callable[[], bool] = lambda: True
    ) -> dict[str, Any]:
        """Run it as often as its author allows, while it goes on; its execution, as the service shows it."""
        for number in itertools.count():
            info = {"retryCount": number, "startTime": stamp(clock())}
            info |= await self._run(launcher)
            if info["result"] == "success" or number == self._retries or not goes_on():
                break
            await asyncio.sleep(_PAUSE * 2 ** min(number, _DOUBLED))
        return info | {"state": "completed", "endTime": stamp(clock())}

    @property
    def _retries(self) -> int:
        """How often it runs again; -1 for no limit."""
        constraints = self.document.get("constraints") or {}
        return int(self.document.get("maxTaskRetryCount") or constraints.get("maxTaskRetryCount") or 0)

    @property
    def _limit(self) -> float | None:
        constraints = self.document.get("constraints") or {}
        text = self.document.get("maxWallClockTime") or constraints.get("maxWallClockTime")
        limit = duration(text, "maxWallClockTime") if text else None
        return None if limit is None else limit.total_seconds()

    async def _run(self, launcher: Launcher) -> dict[str, Any]:
        work = self.place / "wd"
        env = {**self.env, "AZ_BATCH_TASK_DIR": str(self.place), "AZ_BATCH_TASK_WORKING_DIR": str(work)}
        env |= settings_of(self.document.get("environmentSettings"))
        try:
            work.mkdir(parents=True, exist_ok=True)
            await fetch(self.document.get("resourceFiles", ()), work)
            order = tasks.Task(
                directory=self.processes / "command",
                argv=argv_of(self.document["commandLine"], env),
                env=env,
                cwd=work,
                stdout=self.place / "stdout.txt",
                stderr=self.place / "stderr.txt",
            )
            async with asyncio.timeout(self._limit):
                code = await tasks.run(order, launcher)
        except Failure as error:
            return {"result": "failure", "failureInfo": error.info}
        except TimeoutError:
            return {"result": "failure", "failureInfo": ended_by(user=False)}
        except tasks.TaskLost:
            return {"result": "failure"}
        except OSError as error:
            details = {"Reason": error.strerror or "the node cannot start it"}
            info = failure("CommandLaunchFailed", "The command cannot be started", details).info
            return {"result": "failure", "failureInfo": info}
        finally:
            await tasks.end_all(self.processes)
            shutil.rmtree(self.processes, ignore_errors=True)
        return {"exitCode": code, "result": "failure" if code else "success"}
