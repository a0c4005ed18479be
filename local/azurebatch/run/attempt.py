"""One run of a task on its nodes: files, coordination, command. A restarted emulator continues it."""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from local.azurebatch.run.command_line import argv_of, words_of
from local.azurebatch.run.containers import TaskContainer, closed, opened
from local.azurebatch.run.endings import Ending, Failure, ended_by, exited
from local.azurebatch.run.environment import (
    gang_environment,
    node_environment,
    preparation_environment,
    task_environment,
)
from local.azurebatch.run.node_directory import NodeDirectory, directory_of, task_root
from local.azurebatch.run.transfer import fetch
from local.azurebatch.run.uploads import upload
from local.azurebatch.settings import Settings
from local.azurebatch.state.models import PREPARATION, Job, Node, Pool, Task
from local.azurebatch.state.moment import duration
from local.nodes import tasks
from local.nodes.launcher import Launcher

#: Background processes of a coordination command live as long as the task does. What keeps them shows no
#: environment: the service's own agent, in whose place it is, lets no task read it.
_STAYS = '"$@"; echo $? >"$0.new"; mv "$0.new" "$0"; exec env -i "$(command -v sleep)" infinity'
_LOOK_EVERY = 0.1


@dataclass(frozen=True)
class Attempt:
    """A task with its job, its pool and its nodes, the first of which is the primary."""

    task: Task
    job: Job
    pool: Pool
    nodes: Sequence[Node]
    settings: Settings
    launcher: Launcher

    async def run(self) -> Ending:
        """Run to the end. If cancelled, the processes stay until `end`."""
        try:
            limit = duration(self.task.document["constraints"]["maxWallClockTime"], "maxWallClockTime")
            async with asyncio.timeout(_seconds(limit)):
                ending = await self._run()
            return await self._uploaded(ending)
        except Failure as error:
            return Ending(failure=error.info)
        except TimeoutError:
            return Ending(failure=ended_by(user=False))
        except tasks.TaskLost:
            return Ending(lost=True)

    async def end(self) -> None:
        """End all of its processes, and remove everything of them except their files."""
        if "containerSettings" in self.task.document:
            await closed(self.settings, self._container, directory_of(self.settings.data, self.nodes[0]).root)
        await tasks.end_all(self._processes, self.settings.grace)
        shutil.rmtree(self._processes, ignore_errors=True)

    @property
    def _container(self) -> str:
        return f"slipway-batch-{self.task.attempt}"

    @property
    def _processes(self) -> Path:
        return self.settings.data / "tasks" / self.task.attempt

    async def _run(self) -> Ending:
        node_directories = [directory_of(self.settings.data, node) for node in self.nodes]
        directories = [one.task(self.job.id, self.task.id) for one in node_directories]
        document = self.task.document
        gang: Mapping[str, Any] | None = document.get("multiInstanceSettings")
        for one, directory in zip(node_directories, directories, strict=True):
            one.make()
            (directory / "wd").mkdir(parents=True, exist_ok=True)
        each = zip(node_directories, directories, strict=True)
        envs = [self._environment(index, *both) for index, both in enumerate(each)]
        common = gang.get("commonResourceFiles", ()) if gang else ()
        for directory in directories:
            await fetch(common, directory)  # to the task's own directory, for all of its processes
        await fetch(document.get("resourceFiles", ()), directories[0] / "wd")
        if gang and (bad := await self._coordinate(gang, envs, directories)):
            return bad
        root = node_directories[0].root
        container = await opened(document, self.pool.document, root, self._container, self.settings)
        if container is not None:
            return exited(await self._contained(container, envs[0], directories[0]))
        code = await self._process("main", 0, document["commandLine"], envs, directories, "stdout", "stderr")
        return exited(code, (0,) * (len(self.nodes) - 1))

    async def _contained(self, container: TaskContainer, env: Mapping[str, str], directory: Path) -> int:
        """Run the command in the task's container, in its own directory or that of the image."""
        settings = self.task.document["containerSettings"]
        inside = settings.get("workingDirectory") == "containerImageDefault"
        argv = words_of(self.task.document["commandLine"])
        command = container.started(argv, env, None if inside else directory / "wd")
        order = tasks.Task(
            directory=self._processes / "main",
            argv=command.argv,
            env=command.env,
            text=command.text,
            cwd=directory / "wd",
            stdout=directory / "stdout.txt",
            stderr=directory / "stderr.txt",
            grace=self.settings.grace,
        )
        return await tasks.run(order, self.launcher)

    async def _uploaded(self, ending: Ending) -> Ending:
        """The end after the upload of the task's output files, or with what went wrong in it."""
        if ending.exit_code is None:
            return ending
        spot = directory_of(self.settings.data, self.nodes[0])
        env = self._environment(0, spot, spot.task(self.job.id, self.task.id))
        files, place = self.task.document.get("outputFiles", ()), task_root(self.job.id, self.task.id)
        try:
            await upload(files, ending.exit_code, spot.root, place, env)
        except Failure as error:
            return replace(ending, failure=error.info)
        return ending

    def _environment(self, index: int, spot: NodeDirectory, directory: Path) -> dict[str, str]:
        env = node_environment(self.settings, self.pool, self.nodes[index], spot)
        if "multiInstanceSettings" in self.task.document:
            env |= gang_environment(self.nodes, index, directory, self.pool.document["vmSize"])
        if preparation := self.job.document.get(PREPARATION):
            env |= preparation_environment(spot.task(self.job.id, preparation["id"]))
        return env | task_environment(self.job, self.task, directory)

    async def _coordinate(
        self, gang: Mapping[str, Any], envs: Sequence[Mapping[str, str]], directories: Sequence[Path]
    ) -> Ending | None:
        """Run the coordination command on every node until it returns.

        Returns the task's end if one fails.
        """
        processes = [
            asyncio.create_task(
                self._coordinate_one(index, gang["coordinationCommandLine"], envs, directories)
            )
            for index in range(len(self.nodes))
        ]
        try:
            codes = await asyncio.gather(*processes)
        finally:
            for process in processes:
                process.cancel()
        if failed := next((code for code in codes if code), 0):
            return exited(failed, tuple(codes[1:]))
        return None

    async def _coordinate_one(
        self, index: int, line: str, envs: Sequence[Mapping[str, str]], directories: Sequence[Path]
    ) -> int:
        mark = self._processes / f"coordination-{index}" / "returned"
        argv = ("bash", "-c", _STAYS, str(mark), *argv_of(line, envs[index]))
        names = ("coordination-stdout", "coordination-stderr") if index == 0 else ("stdout", "stderr")
        running = asyncio.ensure_future(
            self._start(f"coordination-{index}", index, argv, envs, directories, *names)
        )
        try:
            while not mark.exists():
                if running.done():
                    return running.result()
                await asyncio.sleep(_LOOK_EVERY)
            return int(mark.read_text())
        finally:
            running.cancel()

    async def _process(
        self,
        name: str,
        index: int,
        line: str,
        envs: Sequence[Mapping[str, str]],
        directories: Sequence[Path],
        out: str,
        err: str,
    ) -> int:
        return await self._start(name, index, argv_of(line, envs[index]), envs, directories, out, err)

    async def _start(
        self,
        name: str,
        index: int,
        argv: Sequence[str],
        envs: Sequence[Mapping[str, str]],
        directories: Sequence[Path],
        out: str,
        err: str,
    ) -> int:
        order = tasks.Task(
            directory=self._processes / name,
            argv=argv,
            env=envs[index],
            cwd=directories[index] / "wd",
            stdout=directories[index] / f"{out}.txt",
            stderr=directories[index] / f"{err}.txt",
            grace=self.settings.grace,
        )
        return await tasks.run(order, self.launcher)


def _seconds(limit: timedelta | None) -> float | None:
    return None if limit is None else limit.total_seconds()
