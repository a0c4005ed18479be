"""What comes through the queue or from a container goes its way, once, and the rest stays where it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.core.caller import Caller
from shared.core.errors import Misuse
from shared.core.identity import job_id
from shared.core.job import Drop, JobState
from shared.core.messages import ENDED
from shared.core.refusals import KeyTaken, key_claimed, key_taken
from shared.intake.arrive import blob_arrived, message_arrived, poison_arrived
from shared.intake.candidate import key_of
from shared.intake.dead_letter import REDRIVE, bury, hold
from shared.intake.desk.draft import Draft
from shared.intake.drops.drop import FolderResult
from shared.intake.message import read_request
from shared.intake.reading.event import REJECTION, SUBMIT
from shared.intake.request_door import request_arrived, request_explained, request_validated
from tests.doubles.memory import MemoryLedger
from tests.unit.world import World, job_json

BODY = json.dumps({"spec": job_json()}).encode()
NO_ROLE = Caller("bob", frozenset())


class Defective(MemoryLedger):
    """Code fails over every record."""

    error: Exception = ArithmeticError("a defect")

    async def create(self, *args: Any) -> Any:
        raise self.error


@pytest.fixture
def defect(world: World) -> Defective:
    result = Defective(world.clock, table=world.ledger.table)
    world.use(ledger=result)
    return result


# Blobs


async def test_a_blob_of_another_container_has_no_folder_looked_at(world: World) -> None:
    world.drops.upload("d/job.json", json.dumps(job_json()).encode())
    world.pass_time(60)

    assert await blob_arrived(world.ports, "another", "d/job.json") == FolderResult()

    assert world.engine.started == []


async def test_a_hidden_blob_is_nothing_to_speak_of(world: World, caplog: pytest.LogCaptureFixture) -> None:
    assert await blob_arrived(world.ports, "scripts", "d/.train.py.swp") == FolderResult()
    assert caplog.records == []


# Messages


async def test_a_batch_is_taken_apart_and_each_of_it_has_a_key_of_its_own(world: World) -> None:
    accepted = await message_arrived(world.ports, json.dumps([job_json(), job_json()]).encode(), "m1")

    places = [key_of("queue", f"message:{name}") for name in ("m1", "m1#1")]
    assert [one.job.id for one in accepted] == [job_id(place, 1) for place in places]


async def test_a_foreign_event_is_nothing(world: World) -> None:
    foreign = {"specversion": "1.0", "type": "com.example.other", "id": "1", "source": "x"}

    assert await message_arrived(world.ports, json.dumps(foreign).encode(), "m2") == []


GRID = {"id": "7", "topic": "/t", "subject": "x", "eventType": SUBMIT, "dataVersion": "1.0"}


async def test_an_event_in_event_grids_own_schema_is_one_job_however_often_it_comes(world: World) -> None:
    message = {**GRID, "data": {"spec": job_json()}}

    first, again = await world.message(message), await world.message([message], "m2")
    another = await world.message({**message, "data": {"spec": job_json(nodeCount=2)}}, "m3")

    assert (first.created, again.created, first.job.id == again.job.id) == (True, False, True)
    assert (another.job.state, another.job.problems[0]["code"]) == (JobState.REJECTED, "SW108")
    assert len(world.engine.started) == 1


@pytest.mark.parametrize(
    "message",
    [
        {**GRID, "eventType": "io.slipway.job.submit.v2", "data": {"spec": job_json()}},
        {**GRID, "eventType": "Contoso.Train", "data": {"spec": job_json()}},
        {"specversion": "1.0", "type": "IO.SLIPWAY.JOB.SUBMIT.V1", "data": {"spec": job_json()}},
        {"specversion": "1.0", "type": ENDED, "source": "/ci", "id": "7", "data": {"jobs": "all"}},
        {"specversion": "1.0", "type": "io.slipway.job.succeeded.v1", "source": "/ci", "id": "7"},
    ],
    ids=lambda one: str(one.get("type", one.get("eventType"))),
)
async def test_an_event_that_is_meant_for_us_and_cannot_be_is_one_rejection_with_a_receipt(
    world: World, message: dict[str, Any]
) -> None:
    bodies = [json.dumps(form).encode() for form in (message, message, [message])]
    jobs = [(await message_arrived(world.ports, body, f"m{n // 2}"))[0].job for n, body in enumerate(bodies)]

    assert {job.state for job in jobs} == {JobState.REJECTED}
    assert jobs[0].id == jobs[1].id
    assert jobs[0].problems[0]["code"] == "SW086"
    assert world.receipt(jobs[0])["problems"][0]["remedy"]
    assert world.engine.started == []


async def test_a_rejection_of_ours_that_comes_back_is_not_rejected_for_ever(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.policy(default_notify=({"url": "https://hooks.example.com/in"},))
    await world.message({**GRID, "eventType": "io.slipway.job.succeeded.v1"})
    (event,) = [event for event in world.events() if event["type"] == REJECTION]

    assert await message_arrived(world.ports, json.dumps(event).encode(), "m2") == []

    assert len(world.ledger.jobs) == 1
    assert "came back to the queue" in caplog.text


@pytest.mark.usefixtures("defect")
async def test_a_message_is_given_up_after_its_tries_and_not_in_the_last_of_them(world: World) -> None:
    tries = world.ports.policy.message_tries
    with pytest.raises(ArithmeticError):
        await message_arrived(world.ports, BODY, "m1", tries=tries)
    assert await world.dead.all() == []

    assert await message_arrived(world.ports, BODY, "m1", tries=tries + 1) == []
    assert [dead.message_id for dead in await world.dead.all()] == ["m1"]


async def test_a_redriven_message_that_fails_on_leaves_the_dead_one_alone(
    world: World, defect: Defective
) -> None:
    await bury(world.ports, "jobs", "m1", BODY, 41, ValueError())
    before = await world.dead.all()
    pointer = json.dumps({"type": REDRIVE, "dead": before[0].id}).encode()

    assert await message_arrived(world.ports, pointer, "m2", tries=1000) == []
    assert await world.dead.all() == before

    world.use(ledger=world.ledger)
    (accepted,) = await message_arrived(world.ports, pointer, "m2")
    assert accepted.job.state is JobState.QUEUED
    assert await world.dead.all() == []
    assert await message_arrived(world.ports, pointer, "m2") == []


async def test_a_message_is_held_for_three_tries_that_do_not_end(world: World) -> None:
    assert [await hold(world.ports, "jobs", "m1", BODY) for _ in range(5)] == [True] * 3 + [False] * 2
    (dead,) = await world.dead.all()
    assert dead.reason.startswith("3 of its tries")


@pytest.mark.parametrize("body", [BODY, json.dumps([job_json(), {"Type": "BlobTrigger"}]).encode()])
async def test_a_poison_message_that_is_no_blobs_is_kept_and_not_run(world: World, body: bytes) -> None:
    await poison_arrived(world.ports, "p1", body)

    assert len(await world.dead.all()) == 1
    assert world.engine.started == []


class Refuses(MemoryLedger):
    error: Misuse | None = None

    async def create(self, *args: Any) -> Any:
        error, self.error = self.error, None
        if error is not None:
            raise error
        return await super().create(*args)


@pytest.mark.parametrize(
    "error",
    [
        Misuse("this cannot be", status=413),
        Misuse("this cannot be", status=422),
        key_taken("another"),
        key_claimed("another"),
    ],
    ids=["413", "422", "taken", "claimed"],
)
async def test_of_what_a_person_did_wrong_only_a_taken_key_becomes_a_record(
    world: World, error: Misuse
) -> None:
    world.ledger = ledger = Refuses(world.clock)
    world.use(ledger=ledger)
    ledger.error = error
    if not isinstance(error, KeyTaken):
        with pytest.raises(Misuse, match="this cannot be"):
            await message_arrived(world.ports, BODY, "m1")
        assert ledger.jobs == []
        return

    (accepted,) = await message_arrived(world.ports, BODY, "m1")

    assert accepted.job.state is JobState.REJECTED
    assert [p["remedy"] for p in accepted.job.problems if p["code"] == "SW108"] == [error.remedy]


# Requests


async def test_only_who_sees_every_job_may_name_a_drop_as_the_document(world: World) -> None:
    world.drops.upload("d/job.json", json.dumps(job_json()).encode())
    limits = world.ports.policy.limits
    request = read_request(b'{"specBlob": "scripts/d/job.json"}', limits)

    with pytest.raises(Misuse, match="names a drop") as error:
        await request_arrived(
            world.ports, request, door="http", source=NO_ROLE.source, key="k", name="n", who=NO_ROLE
        )
    assert (error.value.status, error.value.remedy) == (403, "send the document itself, as `spec`")
    with pytest.raises(Misuse, match="names a drop"):
        await request_validated(world.ports, request, NO_ROLE)


async def test_a_request_has_the_name_that_its_door_knows(world: World) -> None:
    request = read_request(BODY, world.ports.policy.limits)
    accepted = await request_arrived(world.ports, request, door="http", source="s", key="k", name="mnist")
    assert accepted.job.name == "mnist"


async def test_what_is_only_validated_is_not_recorded(world: World) -> None:
    limits = world.ports.policy.limits

    good = await request_validated(world.ports, read_request(BODY, limits))
    bad = await request_validated(
        world.ports, read_request(json.dumps(job_json(nodeCount=0)).encode(), limits)
    )

    assert (good.valid, bad.valid) == (True, False)
    assert world.ledger.jobs == []


async def test_what_is_explained_is_what_would_arrive(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    records: list[tuple[object, ...]] = []

    async def explain(ports: Any, draft: Draft, *, keyed: bool) -> dict[str, Any]:
        one = draft.candidate
        records.append((one.door, one.source, one.key, one.name, one.experiment, one.script, keyed))
        return {}

    monkeypatch.setattr("shared.intake.request_door.explain", explain)
    limits = world.ports.policy.limits
    plain = read_request(BODY, limits)
    keyed = read_request(json.dumps({"spec": job_json(), "idempotencyKey": "own"}).encode(), limits)
    drop = Drop(container="scripts", folder="digits/run", job_file="job.json", files={}, etags={})

    await request_explained(world.ports, plain, source="http:ann", key="k")
    await request_explained(world.ports, keyed, source="http:ann", key="k")
    await request_explained(world.ports, plain, source="http:ann", key=None)
    await request_explained(world.ports, plain, source="http:ann", key="k", drop=drop, script="train.py")
    await request_explained(world.ports, plain, source="http:ann", key=None, drop=drop)

    assert records == [
        ("http", "http:ann", "k", "", "", None, True),
        ("http", "http:ann", "own", "", "", None, True),
        ("http", "http:ann", "", "", "", None, False),
        ("drop", "drop", "k", "train", "digits", "train.py", False),
        ("drop", "drop", "", "run", "digits", None, False),
    ]


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (job_json(), "message-0a1b2c3d"),
        ({"spec": job_json(), "name": "mine"}, "mine"),
        ({"specBlob": "scripts/team/digits/job.json"}, "digits"),
        ({"specBlob": "scripts/team/digits.json"}, "digits"),
        ({"specBlob": "scripts/job.json"}, "scripts"),
        (b"no job", "message-0a1b2c3d"),
    ],
)
async def test_a_message_without_a_name_is_called_by_its_blob_or_its_id(
    world: World, message: Any, name: str
) -> None:
    for blob in ("team/digits/job.json", "team/digits.json", "job.json"):
        world.drops.upload(blob, json.dumps(job_json()).encode())

    assert (await world.message(message, "0a1b2c3d-4e5f-6789")).job.name == name


async def test_jobs_of_one_message_and_one_that_no_one_named_have_names_of_their_own(world: World) -> None:
    messages = [{"spec": job_json(nodeCount=n)} for n in (1, 2)]
    accepted = await message_arrived(world.ports, json.dumps(messages).encode(), "0a1b2c3d-4e5f")
    request = read_request(BODY, world.ports.policy.limits)
    posted = await request_arrived(world.ports, request, door="http", source="s", key="k")

    assert [one.job.name for one in accepted] == ["message-0a1b2c3d", "message-0a1b2c3d-1"]
    assert posted.job.name == f"http-{posted.job.id[2:10]}"


async def test_messages_with_one_key_are_one_job_under_one_name(world: World) -> None:
    message = {"spec": job_json(), "idempotencyKey": "once"}

    first = await world.message(message, "0a1b2c3d-4e5f")
    world.use(ledger=MemoryLedger(world.clock))  # as after a backup was restored, which lacks it
    again = await world.message(message, "ffffffff-4e5f")

    assert first.job.name == again.job.name == f"queue-{first.job.id[2:10]}"
    assert first.job.id == again.job.id


@pytest.mark.parametrize("form", ["cloud event", "event grid"])
@pytest.mark.parametrize("data", [{"spec": job_json()}, {"spec": job_json(), "sweep": {"lr": [0.1, 0.2]}}])
async def test_an_event_that_nothing_names_is_a_rejection_and_never_two_jobs(
    world: World, form: str, data: Any
) -> None:
    named = {"specversion": "1.0", "type": SUBMIT, "source": "/ci"}
    event = {**(named if form == "cloud event" else {"eventType": SUBMIT, "topic": "/t"}), "data": data}

    accepted = [await world.message(event, message_id) for message_id in ("m1", "m2")]

    assert {one.job.state for one in accepted} == {JobState.REJECTED}
    assert [one["code"] for one in accepted[0].job.problems if one["severity"] == "error"] == ["SW010"]
    assert "idempotencyKey" in accepted[0].job.problems[0]["remedy"]
    assert world.engine.started == []


async def test_an_event_with_a_key_in_its_message_needs_no_id(world: World) -> None:
    event = {"specversion": "1.0", "type": SUBMIT, "data": {"spec": job_json(), "idempotencyKey": "k"}}

    first, again = [await world.message(event, message_id) for message_id in ("m1", "m2")]

    assert (first.job.id, len(world.engine.started)) == (again.job.id, 1)
