"""Plays a story with one fault at a time: with the dispatcher in memory, and over a real engine."""

from __future__ import annotations

import itertools
import re
from collections.abc import Awaitable, Callable, Iterable
from enum import StrEnum
from typing import Any
from zlib import crc32

import pytest

from tests.breadth import every_few, in_turn
from tests.crash.chaos import Fault
from tests.crash.engine_run import EngineRun
from tests.crash.stories import STORIES, Story, play

#: Runs a story over an engine: the `play` of its module.
Play = Callable[..., Awaitable[EngineRun[Any]]]

#: The rounds until a sleeper wakes up, and until a late call is carried out; other faults need none.
_WAKES = {Fault.LATE: (1, 4), Fault.ZOMBIE: (1, 4)}
#: Each fault, and the rounds until its worker wakes up.
FAULTS = [(fault, wake_after) for fault in Fault for wake_after in _WAKES.get(fault, (1,))]

#: Rare calls that change the state of a cluster: each fault of the wire hits them.
_RARE = re.compile(r"DELETE .*/(jobs|job|tasks)/[^/]+|POST .*/(terminate|services)")
#: The calls that change an engine's state: each fault of our processes hits them.
_EFFECTIVE = ("engine.submit", "engine.cancel")


def case_name(case: object) -> str:
    """A story, a fault, a number, or several of these together, in the name of a test."""
    return "-".join(map(case_name, case)) if isinstance(case, tuple) else str(getattr(case, "name", case))


_counted: dict[tuple[str, int], int] = {}


async def _calls(story: Story, wake_after: int) -> int:
    """How many calls the story makes without faults, counted once for all faults."""
    key = (story.name, wake_after)
    if key not in _counted:
        _counted[key] = len((await play(story, {}, wake_after=wake_after)).chaos.calls)
    return _counted[key]


async def check_survival(story: Story, fault: Fault, wake_after: int) -> None:
    """Play the story with the fault at its calls, and assert that the promise was kept.

    A third of the faults meets each call; with `--every-fault` all of them do.
    """
    calls = await _calls(story, wake_after)
    number = crc32(story.name.encode()) + FAULTS.index((fault, wake_after))
    await _check_calls(story, fault, wake_after, every_few(range(1, calls + 1), number, thorough=3))


async def check_turn(story: Story, fault: Fault, wake_after: int) -> None:
    """The same for a long story: the faults share its calls in turn."""
    calls = range(1, await _calls(story, wake_after) + 1)
    kind = FAULTS.index((fault, wake_after))
    # There are enough calls for the shifting order of faults to repeat: each hits even and odd calls.
    await _check_calls(story, fault, wake_after, in_turn(calls, kind, len(FAULTS), step=1))


async def _check_calls(story: Story, fault: Fault, wake_after: int, calls: Iterable[int]) -> None:
    for n in calls:
        run = await play(story, {n: fault}, wake_after=wake_after)
        assert run.violations == [], f"{fault} at call {n}, {run.chaos.calls[n - 1]}"


async def check_caught(story: Story, *, from_the_end: bool = False) -> None:
    """Assert that the story shows a mutant: without a fault, or with one at one of its calls."""
    whole = await play(story, {})
    if whole.violations:
        return
    numbers = range(1, len(whole.chaos.calls) + 1)
    in_order = reversed(numbers) if from_the_end else numbers
    for number, fault in itertools.product(in_order, (Fault.REFUSED, Fault.AFTER, Fault.ZOMBIE)):
        if (await play(story, {number: fault})).violations:
            return
    pytest.fail("no single fault shows this mutant")


_played: dict[tuple[object, ...], EngineRun[Any]] = {}


async def _undisturbed(play_on: Play, story: Story, options: dict[str, Any]) -> EngineRun[Any]:
    """The story without faults, played once for all faults."""
    key = (play_on, story.name, *sorted(options.items()))
    if key not in _played:
        _played[key] = await play_on(story, **options)
    return _played[key]


async def check_wire(play_on: Play, story: Story, fault: StrEnum, row: int, **options: Any) -> None:
    """Play the story with a fault of the wire at each call whose turn it is, and at each rare one."""
    calls = (await _undisturbed(play_on, story, options)).wire.calls
    rare = {n for n, call in enumerate(calls, 1) if _RARE.fullmatch(call)}
    for n in in_turn(range(1, len(calls) + 1), *_kind(fault), row, rare=rare):
        run = await play_on(story, wire={n: fault}, **options)
        assert run.violations == [], f"{fault} at {run.wire.calls[n - 1]}, call {n}"


async def check_processes(play_on: Play, story: Story, fault: Fault, row: int, **options: Any) -> None:
    """Play the story with a fault of our processes at calls to the engine, and next to them."""
    names = (await _undisturbed(play_on, story, options)).chaos.calls
    requests = [n for n, name in enumerate(names, 1) if name.startswith("engine.")]
    near = sorted({near for at in requests for near in (at - 1, at, at + 1)})
    wakes = (1, 8)
    rare = set(itertools.product((n for n in requests if names[n - 1] in _EFFECTIVE), wakes))
    for n, wake_after in in_turn(itertools.product(near, wakes), *_kind(fault), row, rare=rare):
        run = await play_on(story, {n: fault}, wake_after=wake_after, **options)
        assert run.violations == [], f"{fault} at call {n}, {names[n - 1]}, {story.name}"


async def check_cut(play_on: Play, fault: StrEnum | None, calls: int, row: int, **options: Any) -> None:
    """Play one job that `options` cut off, with a fault of the wire, if any, at the first `calls` calls."""
    for n in in_turn(range(1, calls + 1), *_kind(fault), row) if fault else [0]:
        run = await play_on(STORIES[0], wire={n: fault} if fault else None, **options)
        assert run.violations == [], f"{fault} at call {n}"


def _kind(fault: StrEnum) -> tuple[int, int]:
    """The number of this fault among its kind, and their count."""
    faults = list(type(fault))
    return faults.index(fault), len(faults)
