"""At each door, each step of the desk: what it looks up, what it complains of, and what a record keeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any, NamedTuple

import pytest

from shared.core.job import Job, JobState
from shared.core.notify.webhook_url import safe_url
from shared.core.teams.document import Teams
from shared.intake.desk.draft import STEPS
from shared.lifecycle.current_teams import forget_teams
from tests.unit.archived_code import archived
from tests.unit.intake.desk.doors import READING, RECORDING, Change, Message
from tests.unit.world import World, job_json

#: A script in the drop container, which a document mounts.
DROPS = {"accountName": "acct", "containerName": "scripts", "relativeMountPath": "scripts"}
RUNS_SCRIPT: dict[str, Any] = {
    "mountVolumes": {"azureBlobFileSystems": [DROPS]},
    "customToolkitSettings": {"commandLine": "sh $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/other/run.sh"},
}
_CODE, _LARGE = b"an archive", b"x" * ((1 << 20) + 1)
CODE, TOO_LARGE = (sha256(data).hexdigest() for data in (_CODE, _LARGE))
HOOK = "https://hooks.example.com/all"


async def set_up(world: World) -> None:
    """A team for all, a document in the drop container, and a job to wait for that has ended."""
    teams = Teams.model_validate({"default": "vision", "teams": {"vision": {}}})
    assert await world.ports.teams.put(teams, "") is not None
    forget_teams(world.ports.memo)
    world.drops.upload("specs/a.json", json.dumps(job_json(nodeCount=2)).encode())
    world.drops.upload("other/run.sh", b"true\r\n")
    world.policy(code_mib=1)
    assert archived(world, _CODE)["sha256"] == CODE
    assert archived(world, _LARGE)["sha256"] == TOO_LARGE
    await world.message({"spec": job_json(), "name": "before"}, "m0")
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()


# What is wrong with a message, by the step that finds it

COMPLAINTS: dict[str, tuple[Message, str]] = {
    "with_document": ({"specBlob": "scripts/specs/none.json"}, "SW106"),
    "with_code": ({"spec": job_json(), "code": {"sha256": TOO_LARGE}}, "SW116"),
    "with_share": ({"spec": job_json(), "team": "nobody"}, "SW113"),
    # A template shows its problems only if it is rejected.
    "with_scripts": ({"spec": job_json(nodeCount=0, **RUNS_SCRIPT)}, "SW071"),
    "with_dependencies": ({"spec": job_json(), "after": ["nobody"]}, "SW112"),
    "prepare": ({"spec": job_json(nodeCount=0)}, "SW013"),
}


def test_each_step_has_its_cases() -> None:
    steps = {step.__name__ for step in STEPS} | {"prepare"}

    assert steps == COMPLAINTS.keys() == {one.step for one in TRACES.values()}


@pytest.mark.parametrize("step", COMPLAINTS)
@pytest.mark.parametrize("door", READING)
async def test_no_door_leaves_a_step_out(world: World, door: str, step: str) -> None:
    await set_up(world)
    message, code = COMPLAINTS[step]

    problems = await READING[door](world, message)

    assert code in [one["code"] for one in problems]


# What a record keeps of each step


class Trace(NamedTuple):
    """What a message says, or what changes before it arrives, and the trace of that in its record."""

    step: str
    shows: Callable[[Job, str], bool]
    message: Message
    change: Change = lambda _: None


def of_spec(**properties: Any) -> Message:
    return {"spec": job_json(**properties)}


TRACES: dict[str, Trace] = {
    "document": Trace("with_document", lambda job, _: job.nodes == 2, {"specBlob": "scripts/specs/a.json"}),
    "team": Trace("with_share", lambda job, _: job.team == "vision", of_spec()),
    "code": Trace("with_code", lambda job, _: job.code is not None, {**of_spec(), "code": {"sha256": CODE}}),
    "line ends": Trace(
        "with_scripts",
        lambda job, _: "SW071" in [one["code"] for one in job.problems],
        of_spec(**RUNS_SCRIPT),
    ),
    "dependencies": Trace(
        "with_dependencies",
        lambda job, _: [one.name for one in job.dependencies] == ["before"],
        {**of_spec(), "after": ["before"]},
    ),
    "secrets": Trace(
        "prepare",
        lambda _, spec: '"TOKEN"' in spec and "canary" not in spec,
        of_spec(secrets=[{"name": "TOKEN", "value": "canary"}]),
    ),
    "receivers": Trace(
        "prepare",
        lambda job, _: [one.url for one in job.notify] == [safe_url(HOOK)],
        of_spec(),
        lambda world: world.policy(default_notify=({"url": HOOK},)),
    ),
    "cluster": Trace("prepare", lambda job, _: job.cluster == "dev", of_spec()),
    "gates": Trace(
        "prepare",
        lambda job, _: job.state is JobState.ACCEPTED and job.waiting is not None,
        of_spec(),
        lambda world: world.policy(paused=True),
    ),
}
RERUN, OF_SWEEP = "shared/intake/rerun.py: rerun", "shared/intake/job_sweep.py: _job"
BY_DROP = "shared/intake/drops/dropped.py: _candidate, drop"
BY_INVENTORY = "shared/intake/drops/dropped.py: _candidate, inventory"
#: What a job does not have of the message that it comes from, by its door.
NO_TRACE = {
    (BY_DROP, "code"): "a folder brings its own",
    (BY_INVENTORY, "code"): "a folder brings its own",
    (RERUN, "line ends"): "its scripts are not read a second time",
    (OF_SWEEP, "line ends"): "those of the template are not read again",
}


@pytest.mark.parametrize("what", TRACES)
@pytest.mark.parametrize("door", RECORDING)
async def test_every_record_has_what_the_desk_adds(world: World, door: str, what: str) -> None:
    await set_up(world)
    trace = TRACES[what]

    job = await RECORDING[door](world, trace.message, trace.change)

    spec = json.dumps(await world.ledger.spec(job.id))
    assert trace.shows(job, spec) is ((door, what) not in NO_TRACE)


@pytest.mark.parametrize("door", RECORDING)
async def test_what_arrives_again_joins_its_record(world: World, door: str) -> None:
    first, second = [await RECORDING[door](world, of_spec(), lambda _: None) for _ in range(2)]

    assert first.id == second.id
