"""The jobs that a request waits for: what a name means, who may name which, what every door says of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.core.caller import ADMIN, KEY_HOLDER, READ_ALL, SUBMIT, Caller
from shared.core.identity import job_id
from shared.core.job import Job, JobState
from shared.core.ledger.listing import Page, Query
from shared.core.view import whole
from shared.intake.arrive import blob_arrived
from shared.intake.candidate import key_of
from shared.intake.explanation.explain_text import markdown
from shared.intake.message import Request, read_request
from shared.intake.request_door import request_arrived, request_explained, request_validated
from shared.intake.rerun import rerun
from tests.doubles.memory import MemoryLedger
from tests.unit.world import World, job_json


async def _job(world: World, message_id: str, **members: Any) -> Job:
    return (await world.message({"spec": job_json(), **members}, message_id)).job


def _request(world: World, **members: Any) -> Request:
    body = json.dumps({"spec": job_json(), **members}).encode()
    return read_request(body, world.ports.policy.limits)


def _errors(job: Job) -> list[tuple[str, str]]:
    return [(one["code"], one["pointer"]) for one in job.problems if one["severity"] == "error"]


async def test_a_name_means_the_latest_job_of_that_name(world: World) -> None:
    await _job(world, "m1", name="data")
    world.pass_time(1)
    second = await _job(world, "m2", name="data")
    world.pass_time(1)

    waits = await _job(world, "m3", after=["data"])

    assert [one.job for one in waits.dependencies] == [second.id]


async def test_a_name_stays_what_it_meant_when_the_job_was_accepted(world: World) -> None:
    first = await _job(world, "m1", name="data")
    waits = await _job(world, "m2", after=["data"])
    world.pass_time(1)
    await _job(world, "m3", name="data")

    again = await _job(world, "m2", after=["data"])

    assert again.id == waits.id
    assert [one.job for one in again.dependencies] == [first.id]


async def test_a_job_may_wait_for_the_earlier_one_of_its_own_name(world: World) -> None:
    first = await _job(world, "m1", name="night")
    world.pass_time(1)
    second = await _job(world, "m2", name="night", after=["night"])

    assert [one.job for one in second.dependencies] == [first.id]


async def test_no_job_can_wait_for_itself(world: World) -> None:
    own = job_id(key_of("queue", "k"), 1)

    job = await _job(world, "m1", idempotencyKey="k", after=[own])

    assert job.id == own
    assert _errors(job) == [("SW112", "/after/0")]


async def test_an_unknown_name_is_refused_with_its_place_and_the_name_that_was_meant(world: World) -> None:
    await _job(world, "m1", name="prepare-data")

    job = await _job(world, "m2", afterFailure=["prepare-dta"])

    assert job.state is JobState.REJECTED
    assert job.waiting is None
    (problem,) = (one for one in job.problems if one["severity"] == "error")
    assert (problem["code"], problem["pointer"]) == ("SW112", "/afterFailure/0")
    assert problem["line"] == 1
    assert problem["message"] == 'there is no job "prepare-dta"; did you mean "prepare-data"?'
    assert world.engine.started == ["prepare-data-" + world.engine.started[0].split("-", 2)[2]]


_LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)


class _LongLedger(MemoryLedger):
    """A ledger with more jobs than it looks through for one request."""

    async def find(self, query: Query, *, limit: int, after: str | None) -> Page:
        return replace(await super().find(query, limit=limit, after=after), searched_to=_LONG_AGO)


async def test_among_very_many_jobs_an_older_one_has_to_be_named_by_its_id(world: World) -> None:
    world.use(ledger=_LongLedger(world.clock))

    job = await _job(world, "m1", after=["old"])

    (problem,) = (one for one in job.problems if one["severity"] == "error")
    assert problem["message"] == 'there is no job "old" among the latest ones; name its id if it is older'


async def test_an_unknown_id_is_refused(world: World) -> None:
    job = await _job(world, "m1", after=["j_" + "a" * 24])

    assert _errors(job) == [("SW112", "/after/0")]
    assert "there is no job j_aaa" in job.problems[0]["message"]


async def test_a_job_whose_record_cannot_be_read_is_no_job_to_wait_for(world: World) -> None:
    first = await _job(world, "m1", name="data")
    key = next(key for key in world.ledger.held if key[1] == f"n|{first.id}")
    held = world.ledger.held[key]
    world.ledger.held[key] = replace(held, row={**held.row, "Packed0": "damaged"})

    job = await _job(world, "m2", after=[first.id])

    assert _errors(job) == [("SW112", "/after/0")]
    assert "cannot be read" in job.problems[0]["message"]


async def test_a_job_cannot_have_to_end_in_both_ways(world: World) -> None:
    first = await _job(world, "m1", name="data")

    job = await _job(world, "m2", after=["data"], afterFailure=[first.id])

    assert _errors(job) == [("SW112", "/afterFailure/0")]
    assert job.problems[0]["remedy"] == "name it in after or in afterFailure, not in both"


async def test_a_job_that_is_named_by_name_and_by_id_is_waited_for_once(world: World) -> None:
    first = await _job(world, "m1", name="data")

    job = await _job(world, "m2", after=["data", first.id])

    assert [one.job for one in job.dependencies] == [first.id]
    assert whole(job)["after"] == [{"job": first.id, "name": "data", "met": False}]


OWNER, OTHER = Caller("ann", frozenset({SUBMIT})), Caller("bob", frozenset({SUBMIT}))


async def _by(world: World, who: Caller, key: str, **members: Any) -> Job:
    request = _request(world, **members)
    accepted = await request_arrived(world.ports, request, door="http", source=who.source, key=key, who=who)
    return accepted.job


@pytest.mark.parametrize("by_name", [True, False])
async def test_a_caller_can_only_wait_for_jobs_that_they_may_see(world: World, by_name: bool) -> None:
    first = await _by(world, OWNER, "k1", name="data")
    reference = "data" if by_name else first.id

    assert (await _by(world, OWNER, "k2", after=[reference])).state is JobState.ACCEPTED
    refused = await _by(world, OTHER, "k3", after=[reference])
    assert (await _by(world, KEY_HOLDER, "k4", after=[reference])).state is JobState.ACCEPTED

    assert _errors(refused) == [("SW112", "/after/0")]
    assert "did you mean" not in refused.problems[0]["message"]


async def test_a_name_means_the_latest_that_the_caller_may_see(world: World) -> None:
    first = await _by(world, OWNER, "k1", name="data")
    world.pass_time(1)
    await _by(world, OTHER, "k2", name="data")

    job = await _by(world, OWNER, "k3", after=["data"])

    assert [one.job for one in job.dependencies] == [first.id]


@pytest.mark.parametrize("role", [ADMIN, READ_ALL])
async def test_a_name_means_one_s_own_job_before_a_later_one_of_another(world: World, role: str) -> None:
    who = Caller("dan", frozenset({role, SUBMIT}))
    own = await _by(world, who, "k1", name="data")
    world.pass_time(1)
    await _by(world, OTHER, "k2", name="data")
    theirs = await _by(world, OTHER, "k3", name="theirs")

    job = await _by(world, who, "k4", after=["data", "theirs"])

    assert [one.job for one in job.dependencies] == [own.id, theirs.id]


async def test_the_document_behind_a_spec_blob_waits_as_well(world: World) -> None:
    await _job(world, "m1", name="data")
    world.drops.upload("specs/job.json", json.dumps(job_json()).encode())

    job = (await world.message({"specBlob": "scripts/specs/job.json", "after": ["data"]}, "m2")).job
    bad = (await world.message({"specBlob": "scripts/specs/job.json", "after": ["dta"]}, "m3")).job

    assert job.state is JobState.ACCEPTED
    assert _errors(bad) == [("SW112", "/after/0")]
    assert bad.problems[0]["file"] == "message"


# Drops


async def _drop(world: World, envelope: dict[str, Any]) -> Job:
    world.drops.upload("d/job.json", json.dumps(job_json()).encode())
    world.drops.upload("d/slipway.json", json.dumps(envelope, indent=1).encode())
    world.pass_time(10)
    return (await blob_arrived(world.ports, "scripts", "d/job.json")).accepted[0].job


async def test_a_drop_waits_and_its_status_says_so(world: World) -> None:
    first = await _job(world, "m1", name="data")

    job = await _drop(world, {"after": ["data"]})

    assert job.state is JobState.ACCEPTED
    line = world.drops.receipt_files[job.status_file].decode()
    assert line.startswith("accepted ")
    assert f"waits for data ({first.id}) to succeed" in line
    assert world.receipt(job)["state"] == "accepted"


async def test_a_drop_is_refused_in_its_own_file(world: World) -> None:
    job = await _drop(world, {"after": ["data"]})

    (problem,) = (one for one in job.problems if one["severity"] == "error")
    assert (problem["code"], problem["file"], problem["line"]) == ("SW112", "d/slipway.json", 3)


async def test_a_released_drop_says_so_in_its_status(world: World) -> None:
    await _job(world, "m1", name="data")
    job = await _drop(world, {"after": ["data"]})

    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()

    assert world.drops.receipt_files[job.status_file].startswith(b"queued ")


async def test_a_drop_says_for_what_it_still_waits(world: World) -> None:
    await _job(world, "m1", name="data")
    other = await _job(world, "m2", name="more")
    job = await _drop(world, {"after": ["data", "more"]})
    assert b"and for 1 more job" in world.drops.receipt_files[job.status_file]

    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()

    line = world.drops.receipt_files[job.status_file].decode()
    assert f"waits for more ({other.id}) to succeed" in line


async def test_a_drop_that_can_no_longer_run_says_so_before_any_sweep(world: World) -> None:
    await _job(world, "m1", name="data")
    world.engine.set_state(world.engine.started[0], JobState.FAILED)
    await world.make_pass()

    job = await _drop(world, {"after": ["data"]})

    assert job.state is JobState.CANCELLED
    assert world.drops.receipt_files[job.status_file].startswith(b"cancelled ")


# Asking without running


async def test_validate_says_what_is_wrong_with_a_name(world: World) -> None:
    draft = await request_validated(world.ports, _request(world, after=["x"]))

    assert [one.code for one in draft.problems if one.severity == "error"] == ["SW112"]


async def _explained(world: World, **members: Any) -> dict[str, Any]:
    request = _request(world, **members)
    return await request_explained(world.ports, request, source="queue", key=None)


async def test_explain_says_what_a_job_would_wait_for(world: World) -> None:
    first = await _job(world, "m1", name="data")

    body = await _explained(world, after=["data"])

    assert body["verdict"] == "runs"
    text = f"It would run on dev; before that it waits for data ({first.id}) to succeed."
    assert body["summary"] == text
    assert body["after"] == [{"job": first.id, "name": "data", "met": False}]
    assert text in markdown(body)
    assert body["engineName"]


async def test_explain_says_that_a_job_would_be_cancelled(world: World) -> None:
    first = await _job(world, "m1", name="data")
    world.engine.set_state(world.engine.started[0], JobState.FAILED)
    await world.make_pass()

    body = await _explained(world, after=[first.id])

    assert body["verdict"] == "cancelled"
    assert f"data ({first.id}) ended failed" in body["summary"]


# Rerun


async def test_a_rerun_waits_for_nothing(world: World) -> None:
    await _job(world, "m1", name="data")
    job = await _drop(world, {"after": ["data"]})
    world.engine.set_state(world.engine.started[0], JobState.FAILED)
    await world.make_pass()
    ended = await world.job(job.id)
    assert ended.state is JobState.CANCELLED

    again = await rerun(world.ports, job.id, world.receipt(ended), who=KEY_HOLDER, key="k")

    assert again.job.state is JobState.QUEUED
    assert again.job.dependencies == ()


async def test_a_request_that_names_no_job_asks_for_none(world: World) -> None:
    async def find(*args: Any, **named: Any) -> Any:
        raise AssertionError("no name is to be looked up")

    world.ledger.find = find  # type: ignore[method-assign]
    request = _request(world)

    assert (await request_validated(world.ports, replace(request, key=None))).valid
