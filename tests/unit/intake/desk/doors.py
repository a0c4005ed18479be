"""Every door through which a job is recorded, judged or explained, as a test can go through it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from shared.core.caller import KEY_HOLDER
from shared.core.job import Drop, Job, JobState
from shared.core.ports import Ports
from shared.intake.accept import Accepted
from shared.intake.drops.drop import look_at_folder
from shared.intake.drops.explained import explain_folder
from shared.intake.drops.inventory import inventory
from shared.intake.message import Request, read_request
from shared.intake.request_door import request_arrived, request_explained, request_validated, sweep_requested
from shared.intake.rerun import rerun
from shared.jobspec.report import problems_as_json
from tests.unit.world import World

Message = dict[str, Any]
Problems = list[dict[str, Any]]
#: Something that happens to a deployment just before a job arrives.
Change = Callable[[World], None]
SWEEP: Message = {"sweep": {"lr": [0.1]}}
DROP = Drop(container="scripts", folder="digits", job_file="job.json", files={}, etags={})


def read(ports: Ports, message: Message) -> Request:
    return read_request(json.dumps(message).encode(), ports.policy.limits)


def drop(world: World, message: Message) -> None:
    world.drops.upload("digits/job.json", json.dumps(message).encode())
    world.pass_time(60)


async def by_queue(world: World, message: Message, change: Change) -> Job:
    change(world)
    return (await world.message(message)).job


async def by_http(world: World, message: Message, change: Change) -> Job:
    change(world)
    request = read(world.ports, message)
    return (await request_arrived(world.ports, request, door="http", source="http:", key="k")).job


async def by_drop(world: World, message: Message, change: Change) -> Job:
    change(world)
    drop(world, message)
    (accepted,) = (await look_at_folder(world.ports, "digits/")).accepted
    return accepted.job


async def by_inventory(world: World, message: Message, change: Change) -> Job:
    change(world)
    drop(world, message)
    await inventory(world.ports)
    (job,) = (job for job in world.ledger.jobs if job.door == "inventory")
    return job


async def by_rerun(world: World, message: Message, change: Change) -> Job:
    first = (await world.message(message)).job
    if not first.state.terminal:
        world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
        await world.make_pass()
    change(world)
    accepted = await rerun(world.ports, first.id, world.receipt(first), who=KEY_HOLDER, key="k")
    return accepted.job


async def by_sweep(world: World, message: Message, change: Change) -> Job:
    """A job of a sweep."""
    change(world)
    result = await sweep_requested(
        world.ports, read(world.ports, message | SWEEP), door="http", source="http:", key="k"
    )
    (job,) = (job for job in world.ledger.jobs if job.sweep and job.sweep.id == result.accepted.id)
    return job


#: By the function that makes the candidate, and the door that it names.
RECORDING: dict[str, Callable[[World, Message, Change], Awaitable[Job]]] = {
    "shared/intake/request_door.py: _candidate, queue": by_queue,
    "shared/intake/request_door.py: _candidate, http": by_http,
    "shared/intake/drops/dropped.py: _candidate, drop": by_drop,
    "shared/intake/drops/dropped.py: _candidate, inventory": by_inventory,
    "shared/intake/rerun.py: rerun": by_rerun,
    "shared/intake/job_sweep.py: _job": by_sweep,
}


def _problems_of(record: Callable[[World, Message, Change], Awaitable[Job]]) -> Any:
    async def problems(world: World, message: Message) -> Problems:
        return list((await record(world, message, lambda _: None)).problems)

    return problems


async def _by_sweep(world: World, message: Message) -> Problems:
    """The template of a sweep."""
    result = await sweep_requested(
        world.ports, read(world.ports, message | SWEEP), door="http", source="http:", key="k"
    )
    assert isinstance(result.rejected, Accepted)
    return list(result.rejected.job.problems)


async def _by_validate(world: World, message: Message) -> Problems:
    return problems_as_json((await request_validated(world.ports, read(world.ports, message))).problems)


def _by_explain(more: Message, folder: Drop | None) -> Any:
    async def problems(world: World, message: Message) -> Problems:
        request = read(world.ports, message | more)
        body = await request_explained(world.ports, request, source="http:", key=None, drop=folder)
        return list(body["problems"])

    return problems


async def _by_explained_drop(world: World, message: Message) -> Problems:
    drop(world, message)
    (body,) = (await explain_folder(world.ports, "digits/", live=True)).bodies
    return list(body["problems"])


#: Those that read a message, with the problems of which each of them speaks.
READING: dict[str, Callable[[World, Message], Awaitable[Problems]]] = {
    **{
        name: _problems_of(record)
        for name, record in RECORDING.items()
        if record not in (by_rerun, by_sweep)  # what they make of a message was looked up before
    },
    "sweep": _by_sweep,
    "shared/intake/request_door.py: request_validated": _by_validate,
    "shared/intake/request_door.py: request_explained": _by_explain({}, None),
    "explained sweep": _by_explain(SWEEP, None),
    "explained folder": _by_explain({}, DROP),
    "explained drop": _by_explained_drop,
}
