"""Where a running job is: told to those who may change it, where deployment, team and cluster allow it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import SSHCertificate, load_ssh_public_identity

from shared.adapters.ssh_certificates import certificates_of
from shared.core.abilities import ABILITIES, Ability
from shared.core.caller import ADMIN, KEY_HOLDER, READ_ALL, SUBMIT, Caller
from shared.core.errors import Misuse, NotFound, Transient
from shared.core.job import Job, JobState
from shared.core.relations.permit import LIFE
from shared.core.states import ARROWS
from shared.core.view import whole
from shared.lifecycle.transition import apply, move
from shared.operate.entry import enter
from tests.unit.adapters.ssh_keys import private_key, public_key
from tests.unit.operate.test_teams import put
from tests.unit.world import World, job_json

ANN, BOB = Caller("ann", frozenset({ADMIN})), Caller("bob", frozenset({ADMIN}))


async def running(world: World, document: Mapping[str, Any] | None = None) -> Job:
    job = (await world.message(document or job_json())).job
    world.engine.set_state(world.engine.started[-1], JobState.RUNNING)
    await world.make_pass()
    return await world.job(job.id)


async def test_the_answer_has_coordinates_and_the_record_says_who_asked_once(world: World) -> None:
    job = await running(world, job_json(nodeCount=2))

    answer, detail = await enter(world.ports, job.id, 1, ANN)
    await enter(world.ports, job.id, 0, ANN)
    await enter(world.ports, job.id, 0, KEY_HOLDER)

    assert answer.as_json() == {
        **{"job": job.id, "attempt": 1, "rank": 1, "ranks": 2},
        "srun": {"job": "7", "node": "n1", "user": "slipway"},
    }
    assert detail == "rank 1 on dev (memory)"
    after = await world.job(job.id)
    assert after.entered == ("ann", "the holder of a function key")
    shown = whole(after)
    assert shown["entered"] == list(after.entered)
    assert [one["note"] for one in shown["history"] if "entered" in one.get("note", "")] == [
        "entered by ann",
        "entered by the holder of a function key",
    ]
    assert (after.state, after.message) == (JobState.RUNNING, job.message)


def ways(state: JobState) -> list[JobState]:
    """The states by which a job comes from its acceptance to that one."""
    paths = [[JobState.ACCEPTED]]
    while paths[0][-1] is not state:
        first, *paths = paths
        paths += [[*first, one] for one in ARROWS[first[-1]] if one not in first]
    return paths[0][1:]


@pytest.mark.parametrize("state", [one for one in ARROWS if one not in (JobState.RUNNING, JobState.REJECTED)])
async def test_a_job_of_which_nothing_runs_is_refused_with_its_state(world: World, state: JobState) -> None:
    world.policy(paused=True)
    job = (await world.message(job_json())).job
    for one in ways(state):
        stored = await world.ports.ledger.get(job.id)
        assert stored is not None
        assert await apply(world.ports, move(world.ports, stored, one))

    with pytest.raises(Misuse, match=f"is {state.value}: no process of it runs") as refused:
        await enter(world.ports, job.id, 0, ANN)

    assert refused.value.status == 409


async def test_a_rejected_job_is_refused_with_its_state(world: World) -> None:
    job = (await world.message(job_json(nodeCount=-1))).job

    with pytest.raises(Misuse, match="is rejected: no process of it runs"):
        await enter(world.ports, job.id, 0, ANN)


async def _no_deployment(world: World) -> None:
    world.policy(enter=False)


async def _no_team(world: World) -> None:
    await put(world, {"default": "vision", "teams": {"vision": {"enter": False}}})


async def _no_cluster(world: World) -> None:
    world.engine.abilities = {**dict.fromkeys(ABILITIES, Ability("yes")), "enter": Ability("no", "not here")}


async def _no_process(world: World) -> None:
    world.engine.refuses["entrance"] = NotFound("n1 has no process")


@pytest.mark.parametrize(
    ("close", "why"),
    [
        (_no_deployment, "this deployment does not allow it"),
        (_no_team, "its team vision does not allow it"),
        (_no_cluster, "dev does not offer it: not here"),
        (_no_process, "n1 has no process: rank 0 of"),
    ],
)
async def test_a_job_that_may_not_be_entered_is_refused_with_the_reason(
    world: World, close: Callable[[World], Awaitable[None]], why: str
) -> None:
    await close(world)
    job = await running(world)

    with pytest.raises(Misuse, match=why) as refused:
        await enter(world.ports, job.id, 0, ANN)

    assert refused.value.status == 409
    assert (await world.job(job.id)).entered == ()


async def test_a_team_may_be_entered_unless_it_says_otherwise(world: World) -> None:
    await put(world, {"default": "vision", "teams": {"vision": {}}})

    assert (await enter(world.ports, (await running(world)).id, 0, ANN)).answer.rank == 0


async def of_no_owner(world: World) -> Job:
    await put(world, {"default": "vision", "teams": {"vision": {}}})
    job = await running(world)
    assert (job.source, job.team) == ("queue", "vision")
    return job


@pytest.mark.parametrize(
    ("who", "status"),
    [
        (Caller("sue", frozenset({SUBMIT})), 404),
        (Caller("cay", frozenset({READ_ALL})), 403),
        (Caller("mem", frozenset({SUBMIT}), teams={"vision": False}), 403),
    ],
)
async def test_a_job_without_an_owner_is_closed_to_members_of_its_team_and_to_others(
    world: World, who: Caller, status: int
) -> None:
    job = await of_no_owner(world)

    with pytest.raises(Misuse) as refused:
        await enter(world.ports, job.id, 0, who)

    assert refused.value.status == status


@pytest.mark.parametrize("who", [Caller("mia", frozenset({SUBMIT}), teams={"vision": True}), BOB, KEY_HOLDER])
async def test_a_job_without_an_owner_is_entered_by_managers_and_operators(world: World, who: Caller) -> None:
    job = await of_no_owner(world)

    assert (await enter(world.ports, job.id, 0, who)).answer.job == job.id


@pytest.mark.parametrize(("document", "ranks"), [({"nodeCount": 2}, 2), ({"nodeCount": 1}, 1)])
async def test_a_rank_that_the_job_does_not_have_is_refused(
    world: World, document: dict[str, Any], ranks: int
) -> None:
    job = await running(world, job_json(**document))

    with pytest.raises(Misuse, match=f"there is no rank {ranks}: the job has {ranks}") as refused:
        await enter(world.ports, job.id, ranks, ANN)

    assert refused.value.status == 400


async def test_a_cluster_that_does_not_answer_is_an_error_of_the_cluster(world: World) -> None:
    job = await running(world)
    world.engine.refuses["entrance"] = Transient("down")

    with pytest.raises(Transient):
        await enter(world.ports, job.id, 0, ANN)


async def test_no_secret_of_a_job_or_of_a_deployment_is_in_the_answer(world: World) -> None:
    canary = "canary-of-a-secret"
    world.use(account_keys={"account": canary}, secrets={"team": (canary,)})
    document = job_json(secrets=[{"name": "HF_TOKEN", "value": canary}])
    job = await running(world, document)

    answer, detail = await enter(world.ports, job.id, 0, ANN)

    assert canary not in answer.model_dump_json() + detail
    assert canary not in (await world.job(job.id)).model_dump_json()


async def certified(world: World, gate: str = "slipway-enter 7 n0 t.1") -> Job:
    """A job behind a login node that wants certificates."""
    world.use(certificates=certificates_of(private_key()))
    world.engine.gate = gate
    return await running(world)


async def test_a_person_gets_a_certificate_for_their_key_and_the_trail_its_number(world: World) -> None:
    job = await certified(world)

    answer, detail = await enter(world.ports, job.id, 0, ANN, public_key())

    place = answer.as_json()["srun"]
    certificate = load_ssh_public_identity(place["certificate"].encode())
    assert isinstance(certificate, SSHCertificate)
    assert certificate.key_id == f"ann {job.id}.1.0".encode()
    assert certificate.critical_options == {b"force-command": b"slipway-enter 7 n0 t.1"}
    assert certificate.valid_principals == [b"slipway"]
    assert detail == f"rank 0 on dev (memory), certificate {certificate.serial}"
    assert place["expires"] == (world.now + LIFE).isoformat()


@pytest.mark.parametrize(
    ("who", "key", "gate", "status", "why"),
    [
        (KEY_HOLDER, public_key(), "slipway-enter 7 n0 t.1", 403, "callers with a name"),
        (ANN, "", "slipway-enter 7 n0 t.1", 400, "no `publicKey`"),
        *(
            (
                Caller(name, frozenset({ADMIN})),
                public_key(),
                "slipway-enter 7 n0 t.1",
                409,
                "say this: key_id",
            )
            for name in ("ann\nroot", "ann b", "-x", "\u202eann", "a" * 200, "ann\x1b[2J")
        ),
        *(
            (ANN, public_key(), gate, 409, "say this: gate")
            for gate in ("slipway-enter 7 n0 t;id", "slipway-enter 7 -x t", "id", "slipway-enter 7 n0 t\n")
        ),
    ],
)
async def test_a_certificate_is_for_a_caller_with_a_name_and_a_key_and_for_a_job_alone(
    world: World, who: Caller, key: str, gate: str, status: int, why: str
) -> None:
    job = await certified(world, gate)

    with pytest.raises(Misuse, match=why) as refused:
        await enter(world.ports, job.id, 0, who, key)

    assert refused.value.status == status
    assert (await world.job(job.id)).entered == ()
