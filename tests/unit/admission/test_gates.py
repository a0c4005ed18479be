"""The table of gates: each alone, each before those after it, by rows and by records alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import pytest

from shared.admission.gates import GATES, PASS, Gate, Wait, World, judge, reason
from shared.admission.permit import Permit, permitted
from shared.core.job import Dependency, Entry, Job, JobState, Stored, Target, Waiting
from shared.core.ledger.entries import Active, Pause
from shared.core.relations.claim import Claim
from shared.core.relations.contents import Member, OwnPause
from shared.core.teams.document import PersonQuota, Quota
from tests.unit.world import POLICY

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
QUOTA = Quota(gpus=8, perPerson=PersonQuota(gpus=4))
CLAIM = Claim(nodes=1, gpus=8)
OTHER = Dependency(job="j_data", name="data")
SWEEP = Member(id="s_1", index=0, parallel=2, values={})
LATER = NOW + timedelta(minutes=30)


@dataclass(frozen=True)
class Case:
    """How a gate comes to hold a job: what the job is, and what is lacking; and what opens it."""

    word: str
    text: str
    #: of the job
    members: dict[str, Any]
    #: of the world, while it holds, and once it lets the job pass
    shut: dict[str, Any]
    open: dict[str, Any]


CASES: dict[str, Case] = {
    "pause": Case(
        "Paused",
        "waits: submissions are paused by ann (the cluster moves)",
        {},
        {"pause": Pause(NOW, "ann", "the cluster moves")},
        {"pause": None},
    ),
    "job pause": Case(
        "JobPaused",
        "waits until it is resumed: it is paused by ann (the data is late)",
        {"paused": OwnPause(by="ann", since=NOW, reason="the data is late")},
        {},
        {},
    ),
    "dependency": Case(
        "Dependency", "waits for data (j_data) to succeed", {"dependencies": (OTHER,)}, {}, {}
    ),
    "rate": Case(
        "HourlyTurn",
        "waits: 5 jobs in an hour are allowed for one caller or door",
        {"slot": LATER, "due": LATER},
        {},
        {"now": LATER},
    ),
    "time": Case(
        "NewAttempt",
        "attempt 2 is not before then",
        {
            "attempt": 2,
            "due": LATER,
            "waiting": Waiting(word="NewAttempt", text="attempt 2 is not before then", since=NOW),
        },
        {},
        {"now": LATER},
    ),
    "seat": Case(
        "SweepTurn",
        "waits for its turn in its sweep: at most 2 of its jobs run at once",
        {"sweep": SWEEP},
        {"seats": {"another"}},
        {"seats": {"j_1"}},
    ),
    "quota": Case(
        "TeamQuota",
        "waits for its turn in the team vision, whose jobs may have 8 GPUs at once; 4 GPUs at once for "
        "each person",
        {"claim": CLAIM, "team": "vision"},
        {"claims": {"another": CLAIM}},
        {"claims": {"j_1": CLAIM}},
    ),
    "person": Case(
        "PersonQuota",
        "waits for another job of the same person to end in the team vision, where each person may have "
        "4 GPUs at once",
        {"claim": CLAIM, "team": "vision"},
        {"held_back": {"j_1"}},
        {"claims": {"j_1": CLAIM}},
    ),
    "slot": Case(
        "ActiveLimit",
        "waits for its turn: the limit on active jobs (9) is reached",
        {},
        {"slots": {"another"}},
        {"slots": {"j_1"}},
    ),
}
#: What holds a job in its own record, so that no world lets it pass; and the members that open it.
OF_RECORDS: dict[str, dict[str, Any]] = {
    "job pause": {"paused": None},
    "dependency": {"dependencies": (OTHER.model_copy(update={"met": True}),)},
}
#: Two kinds of one wait: a job has one time, and one claim.
APART = {("rate", "time"), ("quota", "person")}
NAMES = [gate.name for gate in GATES]
PAIRS = [pair for pair in combinations(NAMES, 2) if pair not in APART]


def world(**facts: Any) -> World:
    policy = replace(POLICY, max_jobs_per_hour=5, max_active_jobs=9)
    return World(**{"policy": policy, "now": NOW, "quotas": {"vision": QUOTA}, **facts})


def job_of(*names: str, **members: Any) -> Job:
    fields: dict[str, Any] = {}
    for name in names:
        fields |= CASES[name].members
    entry = Entry(sequence=1, state=JobState.ACCEPTED, at=NOW, token="t")
    fixed = {"id": "j_1", "key": "k", "payload": "p", "door": "http", "name": "n", "experiment": "e"}
    times = {"created": NOW, "due": NOW, "history": (entry,), "state": JobState.ACCEPTED, "cluster": "dev"}
    return Job.model_validate({**fixed, **times, **fields, **members})


def row_of(job: Job) -> Active:
    """The row of a job, as the ledger has it."""
    return Active(
        job_id=job.id,
        state=job.state,
        due=job.due,
        target=job.target,
        after=tuple(one.job for one in job.unmet),
        sweep=job.sweep.id if job.sweep is not None else "",
        claim=job.claim,
        team=job.team,
        wait=job.wait,
        planned_wait=job.planned_wait,
        paused=bool(job.paused),
    )


def shut(*names: str) -> World:
    """The world in which all of these gates hold the job."""
    facts: dict[str, Any] = {}
    for name in names:
        facts |= CASES[name].shut
    return world(**facts)


def verdicts(job: Job, facts: World) -> set[str]:
    """At which gate the row and the record wait; "" for none."""
    answers = (judge(one, facts) for one in (job, row_of(job)))
    return {answer.gate.name if isinstance(answer, Wait) else "" for answer in answers}


def test_every_gate_has_a_case_and_every_case_a_gate() -> None:
    assert sorted(CASES) == sorted(NAMES)
    assert len(set(NAMES)) == len(GATES)


def test_the_order_of_the_gates_is_the_law() -> None:
    assert NAMES == ["pause", "job pause", "dependency", "rate", "time", "seat", "quota", "person", "slot"]


@pytest.mark.parametrize("gate", GATES, ids=NAMES)
def test_a_gate_alone_holds_a_job_and_says_why(gate: Gate) -> None:
    case, job = CASES[gate.name], job_of(gate.name)
    facts = shut(gate.name)

    assert verdicts(job, facts) == {gate.name}
    verdict = gate.judge(job, facts)
    assert isinstance(verdict, Wait)
    assert (verdict.why(job).word, verdict.why(job).text) == (case.word, case.text)
    assert reason(job, facts) == verdict.why(job)
    assert permitted(Stored(job, "e", None), facts) == verdict


@pytest.mark.parametrize("gate", GATES, ids=NAMES)
def test_each_other_gate_lets_that_job_pass(gate: Gate) -> None:
    job, facts = job_of(gate.name), shut(gate.name)

    assert [one.name for one in GATES if one.judge(job, facts) != PASS] == [gate.name]
    assert [one.name for one in GATES if one.judge(row_of(job), facts) != PASS] == [gate.name]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_RECORDS])
def test_a_gate_opens(name: str) -> None:
    job, facts = job_of(name), world(**CASES[name].open)

    assert verdicts(job, facts) == {""}
    assert reason(job, facts) is None
    assert permitted(stored := Stored(job, "e", None), facts) == Permit(stored)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_job_waits_at_the_first_of_two_gates_that_hold_it(first: str, second: str) -> None:
    job, facts = job_of(first, second), shut(first, second)

    assert verdicts(job, facts) == {first}
    recorded = second if first == "pause" else first  # what holds all jobs is in one row for all of them
    why = reason(job, facts)
    assert why is not None
    assert (why.word, why.text) == (CASES[recorded].word, CASES[recorded].text)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_behind_a_gate_that_opens_it_waits_at_the_next(first: str, second: str) -> None:
    job = job_of(second, **OF_RECORDS[first]) if first in OF_RECORDS else job_of(first, second)
    facts = {**CASES[first].shut, **CASES[second].shut, **CASES[first].open}

    assert verdicts(job, world(**facts)) == {second}


def test_a_job_behind_all_gates_waits_at_the_first_and_passes_them_one_by_one() -> None:
    names = [name for name in NAMES if name not in ("time", "person")]
    job, facts = job_of(*names), shut(*names)
    waits_at: list[str] = []
    for name in names:
        waits_at += verdicts(job, facts)
        facts = replace(facts, **CASES[name].open)
        job = job.model_copy(update=OF_RECORDS.get(name, {}))

    assert waits_at == names
    assert verdicts(job, facts) == {""}


# What each goes by


@pytest.mark.parametrize("claim", [CLAIM, CLAIM.given_back])
def test_a_claim_counts_only_until_it_is_given_back(claim: Claim) -> None:
    job = job_of("quota", claim=claim)
    claims: list[dict[str, Claim]] = [{}, {"j_1": CLAIM.given_back}, {"another": CLAIM}]

    for given_out in claims:
        fits = given_out.get("j_1") == claim
        assert verdicts(job, world(claims=given_out)) == {"" if fits else "quota"}


def test_between_two_attempts_a_job_needs_its_seat_and_its_claim() -> None:
    job = job_of("seat", "quota", attempt=2)

    assert verdicts(job, world()) == {"seat"}
    assert verdicts(job, world(seats={"j_1"})) == {"quota"}


def test_without_a_limit_no_job_waits_for_a_slot() -> None:
    assert verdicts(job_of(), world(slots=None)) == {""}
    assert verdicts(job_of(), world(slots=())) == {"slot"}


def test_where_the_hourly_limit_is_off_its_slots_hold_no_job() -> None:
    off = replace(world(), policy=replace(POLICY, max_jobs_per_hour=0))

    assert verdicts(job_of("rate"), off) == {""}


@pytest.mark.parametrize("name", ["rate", "time"])
def test_a_time_that_a_wrong_clock_wrote_holds_no_job(name: str) -> None:
    years = NOW + timedelta(days=700)
    members = {"slot": years, "created": years} if name == "rate" else {}

    assert verdicts(job_of(name, **members, due=years), world()) == {""}


def test_a_job_that_waits_for_another_attempt_says_when_also_if_its_record_does_not() -> None:
    why = reason(job_of("time", waiting=None), world())

    assert why is not None
    assert why.text == "attempt 2 is not before 2026-01-01T12:30:00+00:00"


def test_a_quota_that_cannot_be_read_is_not_guessed() -> None:
    why = reason(job_of("quota"), world(quotas={}))

    assert why is not None
    assert why.text == "waits for its turn in the team vision"


# Permits


TARGET = Target(engine="memory", cluster="dev", experiment="e", name="n", token="t")


@pytest.mark.parametrize("state", [state for state in JobState if state is not JobState.ACCEPTED])
def test_a_job_that_is_not_accepted_asks_for_no_permit(state: JobState) -> None:
    assert permitted(Stored(job_of(state=state, target=TARGET), "e", None), world()) is None


def test_a_permit_is_for_the_record_that_was_judged() -> None:
    stored = Stored(job_of(), "e7", NOW)

    permit = permitted(stored, world())

    assert isinstance(permit, Permit)
    assert permit.stored is stored
