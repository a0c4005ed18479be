"""What people run on a node beside a job: with the environment and in the directory of the job's process."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from local.nodes.containers import Site
from local.nodes.machine import Directories, Machine
from local.nodes.work import Process

T = TypeVar("T")


@dataclass(frozen=True)
class Entrance:
    """What a process of the job on a node has; `container` is the name of its container, "" on the host."""

    env: Mapping[str, str] = field(repr=False)
    directory: Path
    container: str = ""


class Guests:
    """The entrances to the nodes of a job while its processes run, and what has come in by them."""

    def __init__(self, machines: Sequence[Machine], directories: Sequence[Directories]) -> None:
        self._machines, self._directories = machines, directories
        #: by the id of a machine
        self._entrances: Mapping[str, Entrance] = {}
        self._tasks = set[asyncio.Task[Any]]()

    def open(self, envs: Sequence[Mapping[str, str]], processes: Sequence[Process], site: Site) -> None:
        """Let people in, to what the first of these processes on each node has."""
        self._entrances = {
            self._machines[one.node].id: Entrance(
                {**envs[one.node], **one.env},
                self._directories[one.node].work,
                site.container(one.node),
            )
            for one in reversed(processes)
        }

    def entrance(self, machine: str) -> Entrance | None:
        """The entrance to a machine; None before the job's processes have begun there and after their end."""
        return self._entrances.get(machine)

    async def with_job(self, work: Coroutine[Any, Any, T]) -> T | None:
        """The result of what a person runs; None where the job has ended before, and has ended it."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        try:
            await asyncio.wait({task})
            return None if task.cancelled() else task.result()
        finally:
            task.cancel()
            self._tasks.discard(task)

    async def close(self) -> None:
        """End everything that people run there: the job has ended."""
        self._entrances = {}
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait({*self._tasks})
