"""What a door records of what arrived, and when the same thing again is another job."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.admission.pauses import pause
from shared.core.engine import Why
from shared.core.errors import Exists, Misuse, Unavailable
from shared.core.job import Drop, Job, JobState, Reason, Stored
from shared.core.refusals import refused
from shared.intake.arrive import blob_arrived
from shared.intake.candidate import Candidate, Place
from shared.intake.desk.draft import Draft
from shared.intake.desk.prepare import Prepared
from shared.intake.first_record import begun, first_record, held
from shared.intake.generations import runs_again
from shared.intake.message import Request, read_request
from shared.intake.request_door import request_arrived
from shared.jobspec import Envelope
from tests.unit.dropped_folder import status_lines
from tests.unit.world import CLUSTER, World, job_json

ENDED = datetime(2026, 1, 1, 12, 0, 0, 500_000, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def _drop(**etags: str) -> Drop:
    return Drop(container="scripts", folder="d", job_file="d/job.json", files={}, etags=etags)


def _arrived(payload: str = "p", **fields: Any) -> Candidate:
    request = Request(Envelope(), job_json(), payload)
    return Candidate(**{"door": "drop", "source": "drop", "key": "k", "request": request, **fields})


def _recorded(state: JobState, drop: Drop | None, payload: str = "p") -> Stored:
    job = Job(
        id="j_1",
        key="k",
        payload=payload,
        door="drop",
        name="n",
        experiment="e",
        cluster="dev",
        drop=drop,
        state=state,
        created=ENDED,
        due=ENDED,
    )
    return Stored(job, "etag", ENDED)


# The same again


@pytest.mark.parametrize(
    ("state", "modified", "drop", "before", "again"),
    [
        (JobState.SUCCEEDED, ENDED + SECOND, _drop(a="1"), _drop(a="1"), True),
        (JobState.SUCCEEDED, ENDED, _drop(a="1"), _drop(a="1"), False),
        (JobState.SUCCEEDED, ENDED, _drop(a="2"), _drop(a="1"), True),
        (JobState.SUCCEEDED, ENDED.replace(microsecond=0), _drop(a="2"), _drop(a="1"), True),
        (JobState.SUCCEEDED, ENDED - SECOND, _drop(a="2"), _drop(a="1"), False),
        (JobState.REJECTED, ENDED - SECOND, _drop(a="2"), _drop(a="1"), True),
        (JobState.REJECTED, ENDED - SECOND, _drop(a="1"), _drop(a="1"), False),
        (JobState.RUNNING, ENDED + SECOND, _drop(a="2"), _drop(a="1"), False),
        (JobState.SUCCEEDED, ENDED, None, _drop(a="1"), False),
        (JobState.SUCCEEDED, ENDED, _drop(a="1"), None, False),
        (JobState.SUCCEEDED, None, None, None, False),
    ],
)
def test_what_was_uploaded_after_the_end_runs_again(
    state: JobState, modified: datetime | None, drop: Drop | None, before: Drop | None, again: bool
) -> None:
    assert runs_again(_recorded(state, before), _arrived(modified=modified, drop=drop)) is again


def test_another_payload_under_the_same_key_runs_only_after_a_rejection() -> None:
    assert runs_again(_recorded(JobState.REJECTED, None), _arrived("another")) is True
    with pytest.raises(Misuse) as error:
        runs_again(_recorded(JobState.SUCCEEDED, None), _arrived("another"))
    assert error.value.status == 422
    assert error.value.remedy == "send the same document again, or choose a new key"


async def test_a_record_that_exists_and_cannot_be_read_is_an_outage(world: World) -> None:
    class Blind(type(world.ledger)):  # type: ignore[misc]
        async def create(self, *args: Any) -> Any:
            raise Exists("it is there")

    world.use(ledger=Blind(world.clock))

    with pytest.raises(Unavailable, match="exists and cannot be read"):
        await world.message(job_json())


# Over the rate


async def by_http(world: World, key: str) -> Any:
    request = read_request(json.dumps(job_json()).encode(), world.ports.policy.limits)
    return await request_arrived(world.ports, request, door="http", source="http:ann", key=key)


async def test_over_the_rate_a_caller_learns_when_to_come_back_and_what_else_to_do(world: World) -> None:
    world.policy(max_jobs_per_hour=1)
    await by_http(world, "a")
    world.pass_time(3599.5)

    with pytest.raises(Misuse, match=r"^1 jobs in an hour are allowed") as error:
        await by_http(world, "b")

    assert error.value.retry_after == 1.0
    assert "put it on the queue" in error.value.remedy


async def test_over_the_rate_what_was_accepted_before_is_joined(world: World) -> None:
    world.policy(max_jobs_per_hour=1)
    first = await by_http(world, "a")
    world.pass_time(3601)
    await by_http(world, "b")

    assert (await by_http(world, "a")).job.id == first.job.id


# The record


def _record(world: World, prepared: Prepared, **fields: Any) -> Job:
    return first_record(world.ports, Draft(_arrived(**fields), prepared), Place("key", 2))


def test_a_record_says_what_was_asked_and_by_whom(world: World) -> None:
    envelope = Envelope(name="mine", experiment="first", labels={"at": "https://h.example/x?sig=canary"})
    request = Request(envelope, job_json(), "p")
    job = _record(
        world,
        Prepared(job_json(), CLUSTER, (), ()),
        request=request,
        source="http:ann",
        name="theirs",
        experiment="other",
        rerun_of="j_0",
    )
    assert (job.state, job.sequence) == (JobState.ACCEPTED, 1)
    job = begun(world.ports.policy, job, CLUSTER)

    assert (job.name, job.experiment, job.source, job.rerun_of) == ("mine", "first", "http:ann", "j_0")
    assert "at" in job.labels
    assert "canary" not in job.labels["at"]
    assert (job.state, job.reason, job.sequence, job.generation) == (JobState.SUBMITTING, None, 2, 2)
    assert [entry.sequence for entry in job.history] == [1, 2]
    assert (job.message, job.waiting, job.ended, job.slot) == ("", None, None, None)
    assert job.due == world.now + timedelta(seconds=world.ports.policy.submit_lease)


def test_the_record_of_a_job_that_waits_says_for_what(world: World) -> None:
    accepted = _record(world, Prepared(job_json(), CLUSTER, (), ()), name="theirs", experiment="other")
    job = held(accepted, Why("HourlyTurn", "waits: an hour"))

    assert (job.name, job.experiment) == ("theirs", "other")
    assert (job.state, job.sequence, job.target, job.due) == (JobState.ACCEPTED, 1, None, world.now)
    assert job.waiting is not None
    assert (job.waiting.word, job.waiting.text, job.waiting.since) == (
        "HourlyTurn",
        "waits: an hour",
        world.now,
    )
    assert (job.message, job.history[0].waits) == ("waits: an hour", "waits: an hour")


@pytest.mark.parametrize(("count", "message"), [(1, "1 problem"), (2, "2 problems")])
def test_the_record_of_a_rejection_counts_its_errors(world: World, count: int, message: str) -> None:
    problems = tuple(refused("SW101", f"/{n}", "no") for n in range(count))
    warning = replace(problems[0], severity="warning")
    job = _record(world, Prepared(None, None, (), (*problems, warning)))

    assert (job.state, job.reason, job.ended) == (JobState.REJECTED, Reason.INVALID, world.now)
    assert job.message == f"the document has {message} and was not submitted"
    assert len(job.problems) == count + 1


def test_a_record_keeps_as_many_problems_as_fit_into_its_row(world: World) -> None:
    long = refused("SW101", "/x", "m" * 1000)
    job = _record(world, Prepared(None, None, (), (long,) * 100))

    assert {len(one["message"]) for one in job.problems} == {600}
    assert len(job.problems) == 60_000 // len(str(job.problems[0]))


@pytest.mark.parametrize(("drop", "folder"), [(None, "first"), (_drop(), "d")])
def test_the_receipt_of_a_job_has_its_name_and_the_beginning_of_its_id(
    world: World, drop: Drop | None, folder: str
) -> None:
    job = _record(world, Prepared(job_json(), CLUSTER, (), ()), drop=drop, name="n", experiment="first")
    assert job.receipt == f"{folder}/n-{job.id[2:18]}"


async def test_anyone_who_accepted_a_job_has_time_to_tell_of_it_before_a_pass_does(world: World) -> None:
    records: list[Any] = []

    class Looks(type(world.ledger)):  # type: ignore[misc]
        async def create(self, job: Job, document: Any, notice: Any) -> Any:
            records.append(notice)
            return await super().create(job, document, notice)

    world.use(ledger=Looks(world.clock))
    hook = {"url": "https://hooks.example.com/x", "events": ["accepted"]}
    await world.message({"spec": job_json(), "notify": [hook]})

    assert [one.due - world.now for one in records] == [timedelta(seconds=world.ports.policy.deliver_grace)]


async def test_a_rejected_document_is_not_kept_nor_called_accepted(world: World) -> None:
    world.drops.upload("d/job.json", json.dumps(job_json(nodeCount=-1)).encode())
    world.pass_time(10)
    (accepted_one,) = (await blob_arrived(world.ports, "scripts", "d/job.json")).accepted

    assert accepted_one.job.state is JobState.REJECTED
    assert await world.ledger.spec(accepted_one.job.id) is None
    assert status_lines(world) == ["rejected"]


async def test_only_a_dropped_job_has_a_receipt_before_its_end(world: World) -> None:
    await world.message(job_json())

    assert world.drops.receipt_files == {}


async def test_at_the_door_a_job_is_submitted_without_reading_what_was_just_written(world: World) -> None:
    class Read(type(world.ledger)):  # type: ignore[misc]
        read = 0

        async def spec(self, job_id: str) -> Any:
            self.read += 1
            return await super().spec(job_id)

    world.ledger = ledger = Read(world.clock)
    world.use(ledger=ledger)
    world.drops.upload("d/job.json", json.dumps(job_json()).encode())
    world.pass_time(10)

    (dropped,) = (await blob_arrived(world.ports, "scripts", "d/job.json")).accepted

    assert (dropped.job.state, (await world.message(job_json())).job.state) == (JobState.QUEUED,) * 2
    assert ledger.read == 0


async def test_a_job_of_which_no_one_wants_to_hear_is_accepted_without_an_error(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.policy(receipts=False)

    await world.message(job_json())

    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_job_that_waits_for_what_will_pass_is_accepted_without_a_warning(world: World) -> None:
    await pause(world.ports, "ann", "")

    assert not any(note.startswith("warning") for note in (await world.message(job_json())).notes)
