"""Permits for single jobs, as admission makes them."""

from __future__ import annotations

from typing import Any

from shared.admission.gates import Wait
from shared.admission.gates import World as Facts
from shared.admission.permit import Permit, permitted
from shared.lifecycle.dispatch import dispatch
from tests.unit.world import World


async def verdict_of(world: World, job_id: str, **facts: Any) -> Permit | Wait | None:
    """What the gates say of a job, by its record and these facts."""
    stored = await world.ledger.get(job_id)
    assert stored is not None
    return permitted(stored, Facts(world.ports.policy, world.now, **facts))


async def permit_of(world: World, job_id: str, **facts: Any) -> Permit:
    """The permit of a job that no gate holds."""
    verdict = await verdict_of(world, job_id, **facts)
    assert isinstance(verdict, Permit)
    return verdict


async def submit_accepted(world: World, job_id: str) -> None:
    """Submit a job that waits for nothing."""
    await dispatch(world.ports, await permit_of(world, job_id))
