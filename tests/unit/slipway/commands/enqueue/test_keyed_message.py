"""A message for the queue gets a key and a name: several copies of it are one job."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.intake.message import Request, read_message
from shared.jobspec import Limits, is_idempotency_key, report
from slipway.commands.enqueue.keyed_message import keyed_message
from slipway.failure import Failure
from tests.unit.world import World, job_json

KEY = "0f6f0c1e-1a4b-4b63-9a3c-2a0b7b5f5a11"
NAME = "message-0f6f0c1e"
EVENT = {"specversion": "1.0", "id": "1", "source": "/x", "type": "io.slipway.job.submit.v1"}
WRITTEN = {"eventType": "Microsoft.Storage.BlobCreated", "id": "1", "subject": "/x", "data": {}}


def request_of(body: bytes) -> Request:
    (request,) = read_message(body, Limits())
    assert isinstance(request, Request)
    return request


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(job_json()),
        json.dumps(job_json(), indent=2) + "\n",
        "\ufeff" + json.dumps(job_json()),
        json.dumps({"spec": job_json()}),
        json.dumps({"spec": job_json(), "labels": {"a": "é"}}, indent=1, ensure_ascii=False),
        json.dumps({"spec": job_json(), "idempotencyKey": None}),
    ],
)
async def test_several_copies_of_a_message_are_one_job_of_the_name_that_is_shown(
    text: str, world: World
) -> None:
    message = keyed_message(text.encode(), KEY)

    jobs = [(await world.message(message.body, f"m{number}")).job for number in range(3)]

    assert (message.key, message.name) == (KEY, NAME)
    assert {job.id for job in jobs} == {jobs[0].id}
    assert (jobs[0].name, jobs[0].state.value, len(world.engine.started)) == (NAME, "queued", 1)


@pytest.mark.parametrize("lacks", [("id",), ("source",), ("id", "source")], ids="-".join)
@pytest.mark.parametrize("wrapped", [False, True], ids=["alone", "in a list"])
async def test_several_copies_of_an_event_that_lacks_its_name_are_one_job(
    lacks: tuple[str, ...], wrapped: bool, world: World
) -> None:
    event = {**EVENT, "data": {"spec": job_json()}}
    own = {name: value for name, value in event.items() if name not in lacks}
    message = keyed_message(json.dumps([own] if wrapped else own).encode(), KEY)

    jobs = [(await world.message(message.body, f"m{number}")).job for number in range(3)]

    assert {job.id for job in jobs} == {jobs[0].id}
    assert jobs[0].state.value == "queued"
    (after,) = [json.loads(message.body)] if not wrapped else json.loads(message.body)
    assert own.items() <= after.items()


async def test_an_event_of_event_grid_gets_an_id(world: World) -> None:
    own = {"eventType": "io.slipway.job.submit.v1", "data": {"spec": job_json()}}
    message = keyed_message(json.dumps(own).encode(), KEY)

    assert request_of(message.body).key
    assert json.loads(message.body) == {"id": KEY, **own}


async def test_every_message_of_a_list_has_a_key_of_its_own(world: World) -> None:
    envelope = {"spec": job_json(), "name": "mine"}
    message = keyed_message(json.dumps([job_json(), envelope]).encode(), KEY)

    requests = read_message(message.body, Limits())

    assert [one.key for one in requests if isinstance(one, Request)] == [KEY, f"{KEY}#1"]
    assert [one.envelope.name for one in requests if isinstance(one, Request)] == [NAME, "mine"]


def test_a_name_and_the_document_in_a_blob_stay_as_they_are() -> None:
    for own in ({"name": "mine", "spec": job_json()}, {"specBlob": "scripts/a/job.json"}):
        message = keyed_message(json.dumps(own).encode(), KEY)
        assert json.loads(message.body) == {**own, "idempotencyKey": KEY}
        assert message.name == ""


@pytest.mark.parametrize(
    "own",
    [
        {"idempotencyKey": "mine", "spec": job_json()},
        {**EVENT, "data": {"spec": job_json()}},
        WRITTEN,
        {"apiVersion": "batch/v1", "kind": "Job", "spec": {}},  # another format
        "text",
    ],
)
def test_what_has_a_key_or_cannot_run_is_sent_as_it_is(own: Any) -> None:
    text = json.dumps(own, indent=3).encode()

    assert keyed_message(text, KEY) == (text, "", "")
    with pytest.raises(Failure, match="leave out --idempotency-key"):
        keyed_message(text, KEY, chosen=True)


def test_a_problem_of_a_message_keeps_its_line() -> None:
    text = json.dumps({"spec": job_json(nodeCount="two"), "labels": 1}, indent=2)

    def lines(body: bytes) -> list[object]:
        request = request_of(body)
        assert request.text is not None
        return [one["line"] for one in report.problems_as_json(request.text.locate(request.problems))]

    assert lines(keyed_message(text.encode(), KEY).body) == lines(text.encode())


#: Keys that a header of HTTP carries, and a message does not.
ODD_KEYS = ["a b", "é", "x" * 257, "a\u00a0b", "\u540d"]


@pytest.mark.parametrize("key", ODD_KEYS, ids=ascii)
def test_a_chosen_key_that_the_door_would_reject_is_refused_before_it_is_sent(key: str) -> None:
    with pytest.raises(Failure, match="use up to 256 visible ASCII characters"):
        keyed_message(json.dumps(job_json()).encode(), key, chosen=True)


@pytest.mark.parametrize("key", [*ODD_KEYS, "x" * 256, "a#b", "~!"], ids=ascii)
async def test_the_command_and_the_door_agree_on_every_key(key: str, world: World) -> None:
    document = json.dumps({"spec": job_json(), "idempotencyKey": key}).encode()
    at_the_door = (await world.message(document, "m")).job.state.value != "rejected"

    assert at_the_door is is_idempotency_key(key)


def test_a_chosen_key_has_room_for_the_number_of_each_message_of_a_list() -> None:
    many = json.dumps([job_json()] * 11).encode()

    assert len(json.loads(keyed_message(many, "x" * 253, chosen=True).body)) == 11
    with pytest.raises(Failure, match="use up to 253 visible ASCII characters"):
        keyed_message(many, "x" * 254, chosen=True)
