"""The harness proves itself for changes of waiting jobs: it catches each broken variant of their protocol."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import shared.admission.gates
import shared.lifecycle.orders.order
from tests.breadth import every_few
from tests.crash.single_fault import check_caught
from tests.crash.stories import Story
from tests.crash.waiting.waiting_stories import HURRIED, PAUSED

#: They show what the other tests of this folder notice, and change with those.
pytestmark = pytest.mark.thorough

Patch = pytest.MonkeyPatch


def a_pause_holds_no_job(patch: Patch) -> None:
    gates = tuple(gate for gate in shared.admission.gates.GATES if gate.name != "job pause")
    patch.setattr(shared.admission.gates, "GATES", gates)


def the_cluster_gets_the_priority_of_the_document(patch: Patch) -> None:
    patch.setattr(shared.lifecycle.orders.order, "with_priority", lambda document, _: document)


CASES: tuple[tuple[Callable[[Patch], None], Story], ...] = (
    (a_pause_holds_no_job, PAUSED),
    (the_cluster_gets_the_priority_of_the_document, HURRIED),
)


@pytest.mark.parametrize(
    ("mutant", "story"), every_few(CASES, 0), ids=lambda one: getattr(one, "__name__", "") or one.name
)
async def test_the_harness_catches(mutant: Callable[[Patch], None], story: Story, monkeypatch: Patch) -> None:
    mutant(monkeypatch)
    await check_caught(story)
