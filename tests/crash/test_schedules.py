"""Several faults at once: all pairs of the first calls, and a state machine."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.breadth import every_few, examples
from tests.crash.chaos import Fault
from tests.crash.harness import Run
from tests.crash.stories import HOOK, STORIES, message, play
from tests.unit.world import job_json

_FIRST = 40
_PAIRED = (Fault.AFTER, Fault.LOST, Fault.ZOMBIE)


@pytest.mark.parametrize("first", _PAIRED, ids=lambda fault: fault.name)
async def test_any_pair_of_faults_in_the_first_calls_is_survived(first: Fault) -> None:
    story = STORIES[0]
    calls = min(_FIRST, len((await play(story, {})).chaos.calls))
    planned = itertools.product(itertools.combinations(range(1, calls + 1), 2), _PAIRED)
    for (one, two), second in every_few(planned, _PAIRED.index(first)):
        run = await play(story, {one: first, two: second})
        assert run.violations == [], f"{first} at {one}, {second} at {two}"


class Dispatcher(RuleBasedStateMachine):
    """Arrivals, rounds and faults in any order; at the end everything drains and the invariants hold."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.plan: dict[int, Fault] = {}
        self.run = self._do(self._begin())
        self.numbers: set[int] = set()
        self.rounds = 0

    async def _begin(self) -> Run:
        return Run(self.plan)

    def _do(self, act: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(act)

    @rule(number=st.integers(0, 3), twin=st.booleans())
    def arrive(self, number: int, twin: bool) -> None:
        self.numbers.add(number)
        self.run.messages.append(message({"spec": job_json(), "notify": [HOOK]}, f"m{number}", twin=twin))

    @rule(ahead=st.integers(1, 12), fault=st.sampled_from(Fault))
    def trouble(self, ahead: int, fault: Fault) -> None:
        self.plan[len(self.run.chaos.calls) + ahead] = fault

    @rule()
    def round(self) -> None:
        self._do(self.run.round(self.rounds))
        self.rounds += 1

    def teardown(self) -> None:
        self._do(self.run.until_quiet())
        result = self.run.check(accepted=len(self.numbers), started=len(self.numbers))
        self.loop.close()
        assert result == []


TestDispatcher = Dispatcher.TestCase
TestDispatcher.settings = settings(
    max_examples=examples(60), stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
