"""The harness proves itself for held jobs: it catches each broken variant of their protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import shared.lifecycle.cluster_pass
import shared.lifecycle.observe
import shared.operate.ends.release
from shared.core.engine import Observation
from shared.core.job import Job, Stored
from shared.core.ledger.entries import Active, Change
from shared.core.ports import Ports
from shared.lifecycle.carry_out import carry_out
from shared.lifecycle.hold import find_held
from shared.lifecycle.transition import announce
from tests.breadth import every_few
from tests.crash.chaos import Fault
from tests.crash.hold.hold_stories import HELD, LOST, RELEASED
from tests.crash.stories import Story, play

#: They show what the other tests of this folder notice, and change with those.
pytestmark = pytest.mark.thorough

Patch = pytest.MonkeyPatch


def a_hold_has_no_event(patch: Patch) -> None:
    def mutant(ports: Ports, stored: Stored, word: str, **changes: Any) -> Change:
        return replace(announce(ports, stored, word, **changes), notice=None)

    patch.setattr(find_held, "announce", mutant)


def a_hold_is_told_before_it_is_recorded(patch: Patch) -> None:
    def mutant(ports: Ports, stored: Stored, word: str, **changes: Any) -> Change:
        change = announce(ports, stored, word, **changes)
        if (notice := change.notice) is None:
            return change
        other = notice.model_copy(update={"event_id": f"{notice.event_id}-{ports.token()}"})
        return replace(change, notice=other)

    async def twice(ports: Ports, change: Change) -> Stored | None:
        if change.notice is not None:
            (delivery,) = change.notice.deliveries
            body = change.notice.body.encode()
            await ports.webhooks.post(delivery.url, change.notice.event_id, body, [], ports.clock())
            change = replace(change, notice=None)
        (result,) = await ports.ledger.commit([change])
        return result

    patch.setattr(find_held, "announce", mutant)
    patch.setattr(find_held, "apply", twice)


def every_look_tells_it(patch: Patch) -> None:
    patch.setattr(find_held, "may_be_held", lambda job: not job.cancel)
    patch.setattr(find_held, "_may_be_held", lambda ports, row: row.state == "running" and not row.cancel)


def a_lost_node_is_taken_at_its_word(patch: Patch) -> None:
    def mutant(job: Job, observation: Observation) -> Observation:
        return observation

    patch.setattr(shared.lifecycle.observe, "with_own_end", mutant)


def the_cluster_is_asked_before_the_record_says_so(patch: Patch) -> None:
    async def mutant(ports: Ports, stored: Stored) -> Stored | None:
        await carry_out(ports, stored)
        return stored

    patch.setattr(shared.operate.ends.release, "request_end", mutant)


def the_sweeper_repeats_no_request(patch: Patch) -> None:
    async def mutant(ports: Ports, row: Active) -> None:
        return None

    patch.setattr(shared.lifecycle.cluster_pass, "_cancel", mutant)


CASES: tuple[tuple[Callable[[Patch], None], Story], ...] = (
    (a_hold_has_no_event, HELD),
    (a_hold_is_told_before_it_is_recorded, HELD),
    (every_look_tells_it, HELD),
    (a_lost_node_is_taken_at_its_word, LOST),
    (the_cluster_is_asked_before_the_record_says_so, RELEASED),
    (the_sweeper_repeats_no_request, RELEASED),
)


@pytest.mark.parametrize(
    ("mutant", "story"), every_few(CASES, 0), ids=lambda one: getattr(one, "__name__", "") or one.name
)
async def test_the_harness_catches(mutant: Callable[[Patch], None], story: Story, monkeypatch: Patch) -> None:
    mutant(monkeypatch)
    whole = await play(story, {})
    if whole.violations:
        return
    seams = ("webhooks.", "engine.cancel")
    calls = [n for n, name in enumerate(whole.chaos.calls, 1) if name.startswith(seams)]
    for fault in (Fault.AFTER, Fault.REFUSED):
        for number in calls:
            if (await play(story, {number: fault})).violations:
                return
    pytest.fail("no single fault shows this mutant")
