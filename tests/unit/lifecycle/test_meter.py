"""What is counted on a job's journey."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from shared.core.errors import Rejected
from shared.core.job import JobState
from shared.core.ports import Posted
from tests.unit.world import World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}


class Counting:
    """A meter that keeps everything."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, ...]] = Counter()
        self.values: dict[tuple[str, ...], float] = {}
        self.spans: Counter[str] = Counter()
        self.noted: list[dict[str, str]] = []

    def add(self, name: str, number: int = 1, **attributes: str) -> None:
        self.counts[name, *attributes.values()] += number

    def set(self, name: str, value: float, **attributes: str) -> None:
        self.values[name, *attributes.values()] = value

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        self.spans[name] += 1
        yield

    def annotate(self, **attributes: str) -> None:
        self.noted.append(attributes)


async def test_a_journey_is_counted(world: World) -> None:
    world.use(meter=(meter := Counting()))

    job = (await world.message({"spec": job_json(), "notify": [HOOK]})).job
    await world.message({"spec": job_json(), "notify": [HOOK]})
    await world.message(job_json(nodeCount=0), "m2")
    await world.make_pass()
    assert meter.values["slipway.jobs.active", "queued"] == 1
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    await world.wake()
    await world.make_pass()

    assert meter.counts == {
        ("slipway.jobs.accepted", "queue", "submitting"): 1,
        ("slipway.jobs.accepted", "queue", "rejected"): 1,
        ("slipway.duplicates.prevented", "queue"): 1,
        ("slipway.jobs.submitted", "dev"): 1,
        ("slipway.jobs.ended", "succeeded", ""): 1,
        ("slipway.deliveries", "delivered"): 1,
    }
    assert meter.values["slipway.jobs.active", "queued"] == 0
    assert meter.values["slipway.outbox.oldest",] == 0
    assert ("slipway.sweeper.passed",) in meter.values
    assert meter.spans == {
        "slipway.accept": 3,
        "slipway.submit": 1,
        "slipway.sweeper": 3,
        "slipway.deliver": 1,
    }
    assert {"job": job.id} in meter.noted


async def test_a_job_that_its_cluster_refused_is_not_counted_as_submitted(world: World) -> None:
    world.use(meter=(meter := Counting()))
    world.engine.fail = [Rejected("no such image")]

    await world.message(job_json())

    assert meter.counts == {
        ("slipway.jobs.accepted", "queue", "submitting"): 1,
        ("slipway.jobs.ended", "failed", "unsupported"): 1,
    }


async def test_an_event_that_waits_is_seen_in_its_age(world: World) -> None:
    world.webhooks.answers = [Posted("retry", 503, "no", None, 1)]
    await world.message({"spec": job_json(nodeCount=0), "notify": [HOOK]})
    world.use(meter=(meter := Counting()))
    await world.make_pass(600)
    assert meter.values["slipway.outbox.oldest",] > 500
