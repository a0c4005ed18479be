"""The harness proves itself for idle jobs: it catches each broken variant of their protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

import shared.lifecycle.cluster_pass
import shared.lifecycle.ends
from shared.core.engine import Observation
from shared.core.job import Job, Stored
from shared.core.ledger.entries import Active, Change
from shared.core.pacing.looks import Looks
from shared.core.ports import Ports
from shared.core.relations.contents import Idle, IdleCause
from shared.lifecycle.carry_out import carry_out
from shared.lifecycle.idle import reap
from shared.lifecycle.idle.use import Span
from shared.lifecycle.transition import apply, warn
from tests.breadth import every_few
from tests.crash.chaos import Fault
from tests.crash.idle.idle_stories import IDLE, WORKS_AGAIN
from tests.crash.stories import Story, play

#: They show what the other tests of this folder notice, and change with those.
pytestmark = pytest.mark.thorough

Patch = pytest.MonkeyPatch


def a_warning_has_no_event(patch: Patch) -> None:
    original = warn

    def mutant(ports: Ports, stored: Stored, idle: Idle, text: str) -> Change:
        return replace(original(ports, stored, idle, text), notice=None)

    patch.setattr(reap, "warn", mutant)


def a_warning_is_sent_before_it_is_recorded(patch: Patch) -> None:
    original = warn

    def mutant(ports: Ports, stored: Stored, idle: Idle, text: str) -> Change:
        change = original(ports, stored, idle, text)
        if (notice := change.notice) is not None:
            other = notice.model_copy(update={"event_id": f"{notice.event_id}-{ports.token()}"})
            return replace(change, notice=other)
        return change

    async def twice(ports: Ports, change: Change) -> Stored | None:
        if change.notice is not None:
            (delivery,) = change.notice.deliveries
            body = change.notice.body.encode()
            await ports.webhooks.post(delivery.url, change.notice.event_id, body, [], ports.clock())
            change = replace(change, notice=None)
        (result,) = await ports.ledger.commit([change])
        return result

    patch.setattr(reap, "warn", mutant)
    patch.setattr(reap, "apply", twice)


def every_look_warns(patch: Patch) -> None:
    original = reap.judge

    def mutant(ports: Ports, stored: Stored, spans: Mapping[IdleCause, Span]) -> object:
        job = stored.job.model_copy(update={"idle": None})
        return original(ports, replace(stored, job=job), spans)

    patch.setattr(reap, "judge", mutant)


def the_end_follows_at_once(patch: Patch) -> None:
    original = reap._after_warning

    def mutant(ports: Ports, stored: Stored, idle: Idle, span: Span | None) -> object:
        early = idle.model_copy(update={"ends": idle.warned - timedelta(hours=1)})
        return original(ports, stored, early, span)

    patch.setattr(reap, "_after_warning", mutant)
    patch.setattr(Looks, "plan", lambda looks, one, at: None)


def work_after_the_warning_is_not_seen(patch: Patch) -> None:
    original = reap._after_warning

    def mutant(ports: Ports, stored: Stored, idle: Idle, span: Span | None) -> object:
        blind = Span(idle.latest, span.until) if span is not None else None
        return original(ports, stored, idle, blind)

    patch.setattr(reap, "_after_warning", mutant)


def the_cluster_is_asked_before_the_record_says_so(patch: Patch) -> None:
    original = apply

    async def mutant(ports: Ports, change: Change) -> Stored | None:
        if change.transition.after.cancel:
            await carry_out(ports, change.stored)
        return await original(ports, change)

    patch.setattr(reap, "apply", mutant)


def the_sweeper_repeats_no_request(patch: Patch) -> None:
    async def mutant(ports: Ports, row: Active) -> None:
        return None

    patch.setattr(shared.lifecycle.cluster_pass, "_cancel", mutant)


def an_end_as_idle_looks_like_a_cancellation(patch: Patch) -> None:
    def mutant(job: Job, observation: Observation) -> Observation:
        return observation

    patch.setattr(shared.lifecycle.ends, "_at_whose_request", mutant)


CASES: tuple[tuple[Callable[[Patch], None], Story], ...] = (
    (a_warning_has_no_event, IDLE),
    (a_warning_is_sent_before_it_is_recorded, IDLE),
    (every_look_warns, IDLE),
    (the_end_follows_at_once, IDLE),
    (work_after_the_warning_is_not_seen, WORKS_AGAIN),
    (the_cluster_is_asked_before_the_record_says_so, IDLE),
    (the_sweeper_repeats_no_request, IDLE),
    (an_end_as_idle_looks_like_a_cancellation, IDLE),
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
