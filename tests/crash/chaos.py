"""Faults at the two seams that all I/O of the dispatcher passes: storage (with webhooks) and the engine.

A fault happens at the n-th call. Workers are told apart by a context variable: when one dies, every later
call of the same worker dies too, as in a killed process.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from enum import StrEnum
from typing import Any

from shared.adapters.storage.table import Refused
from shared.core.errors import SlipwayError, Transient, Unavailable
from shared.core.ports import Posted


class Fault(StrEnum):
    """What happens to one call."""

    BEFORE = "the process dies before the call"
    AFTER = "the process dies after the call, with its host"
    LOST = "the call works, its answer is lost"
    REFUSED = "the call is refused and does nothing"
    LATE = "the call seems to fail and works later"
    TWICE = "the answer is lost and the SDK repeats the call by itself"
    ZOMBIE = "the worker sleeps, is replaced, and wakes up later"


class Died(BaseException):
    """The process has died; nothing may catch this."""


WORKER: ContextVar[int] = ContextVar("worker", default=0)


class Chaos:
    """Counts calls and injects the planned faults."""

    def __init__(self, plan: Mapping[int, Fault]) -> None:
        self.plan = plan
        self.calls: list[str] = []
        self.dead: set[int] = set()
        #: Those of the dead whose host died with them: their messages stay hidden.
        self.hostless: set[int] = set()
        self.late: list[Callable[[], Awaitable[Any]]] = []
        self.asleep: set[int] = set()
        self.slept = asyncio.Event()
        self.wake = asyncio.Event()

    async def call(self, name: str, act: Callable[[], Awaitable[Any]]) -> Any:
        """One call through a seam."""
        if WORKER.get() in self.dead:
            raise Died
        self.calls.append(name)
        fault = self.plan.get(len(self.calls))
        if fault is None:
            return await act()
        return await self._call_with_fault(fault, name, act)

    async def _call_with_fault(self, fault: Fault, name: str, act: Callable[[], Awaitable[Any]]) -> Any:
        if fault is Fault.BEFORE:
            self._die()
        if fault is Fault.ZOMBIE:
            self.asleep.add(WORKER.get())
            self.slept.set()
            await self.wake.wait()
            return await act()
        if fault is Fault.LATE:
            self.late.append(act)
            return self._failed(name)
        if fault is Fault.REFUSED:
            return self._failed(name)
        answer = await act()
        if fault is Fault.TWICE:
            return await act()
        if fault is Fault.AFTER:
            self.hostless.add(WORKER.get())
            self._die()
        del answer
        return self._failed(name)

    def _die(self) -> None:
        self.dead.add(WORKER.get())
        raise Died

    @staticmethod
    def _failed(name: str) -> Any:
        """What the adapter returns or raises without an answer."""
        if name.startswith("webhooks."):
            return Posted("retry", None, "timeout", None, 1)
        raise (Transient if name.startswith("engine.") else Unavailable)(f"no answer from {name}")

    async def happen_late(self) -> None:
        """Carry out the calls that seemed to fail; their answers are lost."""
        acts, self.late = self.late, []
        for act in acts:
            try:
                await act()
            except (SlipwayError, Refused):
                continue


class Seam:
    """Any port, with the chaos in front of every coroutine method."""

    def __init__(self, port: Any, name: str, chaos: Chaos) -> None:
        self._port, self._name, self._chaos = port, name, chaos

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(self._port, attribute)
        if not inspect.iscoroutinefunction(value):
            return value

        async def faulty_call(*args: Any, **named: Any) -> Any:
            return await self._chaos.call(f"{self._name}.{attribute}", lambda: value(*args, **named))

        return faulty_call
