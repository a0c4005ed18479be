"""The invariants of job sweeps: never more jobs at work than allowed, each job once, and one report."""

from __future__ import annotations

import json
from collections import Counter

from shared.adapters.storage.table import joined
from shared.core.job import Job
from shared.core.job_sweeps.record import JobSweep
from shared.core.ledger.finished_jobs import location_of
from shared.core.ledger.job_sweeps import sweep_of_line
from tests.unit.world import World

_ENDED = "io.slipway.sweep.ended.v1"


def sweeps(world: World) -> list[JobSweep]:
    """Every record of a job sweep."""
    held = [row for (_, key), row in world.ledger.rows.items() if key.startswith("w|")]
    return [JobSweep.model_validate_json(joined("Sweep", row)) for row in held]


def too_many_at_work(world: World) -> list[str]:
    """Sweeps with more jobs at work, or more seats, than allowed; and running jobs without a seat."""
    result = []
    for sweep in sweeps(world):
        jobs = [job for job in world.ledger.jobs if job.sweep is not None and job.sweep.id == sweep.id]
        ran = [job for job in jobs if job.target is not None and not job.state.terminal]
        if max(len(ran), len(sweep.seats)) > sweep.parallel:
            result.append(f"{sweep.id} has {len(ran)} jobs at work and {len(sweep.seats)} seats")
        with_seat = {sweep.job_id(index) for index in sweep.seats}
        result += [f"{job.id} runs without a seat" for job in ran if job.id not in with_seat]
    return result


def wrongly_swept(world: World) -> list[str]:
    """At the end: sweeps that go on, that count their jobs wrongly, or that were not reported once."""
    result = []
    for sweep in sweeps(world):
        states = Counter(job.state for job in world.ledger.jobs if job.sweep and job.sweep.id == sweep.id)
        if sweep.ended is None or sweep.seats or sweep.counts != dict(states):
            result.append(f"{sweep.id} ended {sweep.ended}, counts {sweep.counts}, its jobs are {states}")
        if sum(states.values()) != sweep.total:
            result.append(f"{sweep.id} has {sum(states.values())} jobs of {sweep.total}")
        events = {
            (webhook_id, body)
            for _, webhook_id, body in world.webhooks.posts
            if json.loads(body)["type"] == _ENDED and json.loads(body)["subject"] == f"sweeps/{sweep.id}"
        }
        if len(events) != 1:
            result.append(f"the end of {sweep.id} was reported by {len(events)} events")
        if sweep.archived:
            result += _wrongly_archived(world, sweep)
    return result


def _wrongly_archived(world: World, sweep: JobSweep) -> list[str]:
    """What the archive has lost of a sweep, or the table still has beside its tombstone."""
    place = location_of(sweep)
    line = world.archive.blobs.get(place.name, b"")[place.start : place.start + place.length]
    if not line or sweep_of_line(line).counts != sweep.counts:
        return [f"the archive does not have {sweep.id}"]
    remaining = [key for _, key in world.ledger.rows if sweep.id in key and key != f"w|{sweep.id}"]
    return [f"{sweep.id} is archived, and there is still {key}" for key in remaining]


def waits(world: World) -> list[str]:
    """The jobs that wait for a seat without showing it, or what holds them before or behind that."""
    return [
        f"{job.id} does not say what it waits for"
        for job in world.ledger.jobs
        if job.needs_seat
        and job.attempt == 1
        and (job.waiting is None or job.waiting.word not in _words(job))
    ]


def _words(job: Job) -> set[str]:
    """What a job of a sweep may say; behind its seat it may wait for its person's other jobs, and then on."""
    if job.paused is not None:
        return {"JobPaused"}
    return {"SweepTurn"} | ({"PersonQuota", "TeamQuota"} if job.claim is not None else set())
