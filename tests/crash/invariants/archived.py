"""The invariants of archived jobs."""

from __future__ import annotations

from shared.core.job import Job
from shared.core.ledger.finished_jobs import finished_of, location_of
from tests.unit.world import World


def ended_records(world: World, results: list[str]) -> list[Job]:
    """Every record at its end. Adds to `results` what the archive lost, and what remains elsewhere."""
    jobs = []
    for job in world.ledger.jobs:
        if not job.archived:
            jobs.append(job)
            continue
        place = location_of(job)
        line = world.archive.blobs.get(place.name, b"")[place.start : place.start + place.length]
        if not line:
            results.append(f"the archive does not have {job.id}")
            continue
        jobs.append(finished_of(line).job)
        remaining = [key for _, key in world.ledger.rows if job.id in key and not key.startswith("j|")]
        results += [f"{job.id} is archived, and there is still {key}" for key in remaining]
        tokens = world.engine.tokens.items()
        remote = [name for name, token in tokens if token.startswith(f"{job.id}.")]
        results += [f"{job.id} is archived, and the cluster still has {name}" for name in remote]
    return jobs
