"""What jobs, nodes and records say, in our words."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared.core.engine import Why
from shared.core.errors import Busy, Transient
from shared.core.job import JobState, Reason, Target
from shared.engines.recorded import recorded
from shared.engines.shared_records import Records
from shared.engines.slurm.copies import judge
from shared.engines.slurm.nodes import view
from shared.engines.slurm.queue import in_line
from shared.engines.slurm.translation import observation
from shared.engines.slurm.wire.dialect import DIALECTS, LATEST, Copy, Dialect, comment, copy_of
from tests.unit.engines.slurm.launch_plans import CLUSTER

OLD, NEW = DIALECTS[-1], DIALECTS[0]
COPY = Copy(
    id=7,
    name="n",
    user="u",
    token="t.1",
    marked_priority=None,
    states=frozenset({"RUNNING"}),
    held=False,
    priority=1,
    submitted=100.0,
    started=110.0,
    ended=None,
    restarts=0,
    code=0,
    signal=0,
    reason="None",
    description="",
    nodes="n1",
)
#: One that waits, and of whose start nothing is known.
PENDING = replace(COPY, states=frozenset({"PENDING"}), started=None)
_S, _R = JobState, Reason


def number(value: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": value}


def test_both_dialects_say_the_same_of_a_job() -> None:
    common = {
        "job_id": 7,
        "name": "n",
        "user_name": "u",
        "comment": comment("t.1", 3000),
        "state_reason": "None",
        "nodes": "n1",
    }
    old = {"job_state": "FAILED", "submit_time": 100, "start_time": 110, "end_time": 120, "exit_code": 768}
    new = {
        "job_state": ["FAILED"],
        "submit_time": number(100),
        "start_time": number(110),
        "end_time": number(120),
        "exit_code": {"return_code": number(3), "signal": {"id": {"set": False, "number": 0}}},
    }
    one = copy_of(OLD, {**common, **old, "priority": 5, "restart_cnt": 1})
    other = copy_of(NEW, {**common, **new, "priority": number(5), "restart_cnt": 1})

    assert one == other
    assert (one.token, one.marked_priority, one.code, one.states) == ("t.1", 3000, 3, frozenset({"FAILED"}))


def test_a_user_whom_the_server_cannot_name_is_a_number() -> None:
    assert copy_of(OLD, {"job_id": 1, "user_name": "", "user_id": 0}).user == "0"
    assert copy_of(NEW, {"job_id": 1, "user_name": None, "user_id": 1000}).user == "1000"
    assert copy_of(OLD, {"job_id": 1}).user == ""


@pytest.mark.parametrize(
    "text",
    ["", "a note", "[1]", None, "{", pytest.param("[" * 200_000, id="deep")],
)
def test_a_comment_of_someone_else_is_no_mark(text: str | None) -> None:
    assert copy_of(OLD, {"job_id": 1, "comment": text}).token == ""


@pytest.mark.parametrize(
    ("states", "code", "meaning"),
    [
        ({"PENDING"}, 0, (_S.QUEUED, None, None)),
        ({"CONFIGURING"}, 0, (_S.QUEUED, None, None)),
        ({"RUNNING", "CONFIGURING", "POWER_UP_NODE"}, 0, (_S.QUEUED, None, None)),
        ({"RUNNING"}, 0, (_S.RUNNING, None, None)),
        ({"COMPLETED", "COMPLETING"}, 0, (_S.RUNNING, None, None)),
        ({"COMPLETED"}, 0, (_S.SUCCEEDED, None, 0)),
        ({"FAILED"}, 3, (_S.FAILED, _R.USER, 3)),
        ({"FAILED"}, 251, (_S.FAILED, _R.PREPARATION, 1)),
        ({"FAILED"}, 250, (_S.FAILED, _R.INFRASTRUCTURE, None)),
        ({"FAILED"}, 124, (_S.FAILED, _R.TIMEOUT, None)),
        ({"CANCELLED"}, 0, (_S.CANCELLED, _R.TERMINATED, None)),
        ({"TIMEOUT"}, 0, (_S.FAILED, _R.TIMEOUT, None)),
        ({"NODE_FAIL"}, 1, (_S.FAILED, _R.INFRASTRUCTURE, None)),
        ({"PREEMPTED"}, 0, (_S.FAILED, _R.PREEMPTED, None)),
        ({"OUT_OF_MEMORY"}, 0, (_S.FAILED, _R.USER, None)),
        ({"OUT_OF_MEMORY"}, 137, (_S.FAILED, _R.USER, 137)),
        ({"BOOT_FAIL"}, 0, (_S.FAILED, _R.INFRASTRUCTURE, None)),
    ],
)
def test_a_state_of_slurm_in_ours(states: set[str], code: int, meaning: tuple[Any, ...]) -> None:
    view = observation(replace(COPY, states=frozenset(states), code=code), None)
    reports = view.exit_code if view.state.terminal else None
    assert (view.state, view.reason, reports) == meaning


def test_a_script_that_could_not_even_start_is_no_fault_of_the_job() -> None:
    view = observation(replace(COPY, states=frozenset({"FAILED"}), signal=53), None)
    assert (view.reason, view.exit_code, view.unstarted) == (_R.INFRASTRUCTURE, None, True)


BEGUN = {"state": "running", "final": False}


@pytest.mark.parametrize(
    ("record", "visible", "meaning"),
    [(BEGUN, True, (_R.USER, 137)), (None, False, (_R.USER, 137)), (None, True, (_R.INFRASTRUCTURE, None))],
    ids=["begun", "unseen", "not begun"],
)
def test_a_run_that_was_killed_was_killed_for_its_own_sake(
    record: dict[str, Any] | None, visible: bool, meaning: tuple[Any, ...]
) -> None:
    killed = replace(COPY, states=frozenset({"FAILED"}), signal=9)
    view = observation(killed, record, visible=visible)
    assert (view.reason, view.exit_code, view.unstarted) == (*meaning, False)
    assert ("memory" in view.message) is (view.reason is _R.USER)


@pytest.mark.parametrize("code", [126, 127])
def test_a_program_that_was_not_found_before_the_run_began_is_no_failure_of_the_job(code: int) -> None:
    ended = replace(COPY, states=frozenset({"FAILED"}), code=code)
    unstarted = observation(ended, None, visible=True)
    assert (unstarted.reason, unstarted.exit_code, unstarted.unstarted) == (_R.INFRASTRUCTURE, None, True)
    assert "leads to no python3" in unstarted.message

    unseen = observation(ended, None)
    assert (unseen.reason, unseen.exit_code, unseen.unstarted) == (_R.USER, code, False)
    assert "python3 in `path` of the cluster" in unseen.message
    assert "python3" not in observation(ended, BEGUN, visible=True).message


def test_a_job_that_removed_its_record_has_run_for_as_long_as_slurm_says() -> None:
    """Else it would count no use, and be started again for free."""
    ended = replace(COPY, states=frozenset({"FAILED"}), code=127, started=100.0, ended=100.0 + 3600)

    view = observation(ended, None, visible=True)

    assert (view.reason, view.exit_code, view.unstarted) == (_R.USER, 127, False)
    assert view.started is not None

    killed = replace(ended, code=0, signal=53)  # by itself: a script may end by any signal
    for visible in (True, False):
        view = observation(killed, None, visible=visible)
        assert (view.reason, view.unstarted) == (_R.INFRASTRUCTURE, False)
        assert view.started is not None


@pytest.mark.parametrize(("state", "code"), [("CANCELLED", 0), ("NODE_FAIL", 0), ("FAILED", 127)])
@pytest.mark.parametrize("seconds", [1, 30])
def test_an_attempt_whose_record_is_gone_counts_as_used_for_as_long_as_slurm_says(
    state: str, code: int, seconds: int
) -> None:
    """Its job may have removed the record, in pieces of a few seconds: it is free, and not unused."""
    ended = replace(COPY, states=frozenset({state}), nodes="n1", code=code, started=100.0)
    ended = replace(ended, ended=100.0 + seconds)

    end = observation(ended, None, visible=True)
    boot = observation(replace(ended, states=frozenset({"BOOT_FAIL"})), None, visible=True)

    assert [(one.unstarted, one.used_nothing) for one in (end, boot)] == [(True, False), (True, True)]
    assert end.started is not None
    assert boot.started is None


def test_a_step_that_slurm_killed_for_memory_is_no_failure_of_the_cluster() -> None:
    """Its exit code is 0:125 in Slurm's words."""
    killed = replace(COPY, states=frozenset({"OUT_OF_MEMORY"}), signal=125)
    for record, visible in ((BEGUN, True), (None, True), (None, False)):
        view = observation(killed, record, visible=visible)
        assert (view.state, view.reason, view.unstarted) == (_S.FAILED, _R.USER, False)
        assert "memory" in view.message


@pytest.mark.parametrize(
    ("state", "nodes", "code", "record", "visible", "unstarted"),
    [
        ("NODE_FAIL", "n1", 0, None, True, True),
        ("NODE_FAIL", "n1", 0, None, False, False),
        ("NODE_FAIL", "n1", 0, BEGUN, True, False),
        ("BOOT_FAIL", "n1", 0, None, False, True),
        ("CANCELLED", "n1", 0, None, True, True),
        ("CANCELLED", "n1", 0, None, False, False),
        ("CANCELLED", "n1", 143, None, True, False),
        ("CANCELLED", "n1", 0, BEGUN, True, False),
        ("CANCELLED", "", 0, None, True, False),
        ("PREEMPTED", "n1", 0, None, True, False),
    ],
)
def test_what_slurm_gave_up_before_it_began_was_not_started(
    state: str, nodes: str, code: int, record: dict[str, Any] | None, visible: bool, unstarted: bool
) -> None:
    copy = replace(COPY, states=frozenset({state}), nodes=nodes, code=code)
    view = observation(copy, record, visible=visible)
    assert view.unstarted is unstarted
    assert (view.state is _S.FAILED) is (unstarted or state != "CANCELLED")


def test_the_record_of_a_run_that_came_to_its_end_says_more_than_slurm() -> None:
    ended = {
        "final": True,
        "reason": "user",
        "exitCode": 251,
        "message": "m",
        "ended": "2026-01-01T00:00:00Z",
    }
    failed = replace(COPY, states=frozenset({"FAILED"}), code=251)

    assert observation(failed, ended).reason is _R.USER
    assert observation(failed, {**ended, "final": False}).reason is _R.PREPARATION
    assert recorded({"reason": "terminated", "exitCode": None}).state is _S.CANCELLED
    assert recorded({"reason": "", "exitCode": 0}).state is _S.SUCCEEDED


def test_a_run_that_its_node_asked_to_end_is_not_its_authors_fault() -> None:
    open_record = {"state": "ended", "final": False, "reason": "terminated"}
    failed = replace(COPY, states=frozenset({"FAILED"}), code=143)

    end = observation(failed, open_record)
    assert (end.state, end.reason, end.exit_code) == (_S.FAILED, _R.INFRASTRUCTURE, None)
    assert "node" in end.message
    for copy, record in ((failed, BEGUN), (failed, None), (replace(failed, code=3), open_record)):
        assert observation(copy, record).reason is _R.USER
    cancelled = observation(replace(failed, states=frozenset({"CANCELLED"})), open_record)
    assert (cancelled.state, cancelled.reason) == (_S.CANCELLED, _R.TERMINATED)


@pytest.mark.parametrize("code", ["boom", True, 1.5, [3], 2**64])
def test_an_exit_code_that_is_none_is_left_out(code: Any) -> None:
    assert recorded({"reason": "user", "exitCode": code}).exit_code is None


@pytest.mark.parametrize(
    ("written", "meaning"),
    [
        ("2026-01-01T00:00:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01T01:00:00+01:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("yesterday", None),
        ("0001-01-01T00:00:00+01:00", None),
        (5, None),
    ],
)
def test_a_time_in_a_record_is_in_utc_or_left_out(written: Any, meaning: datetime | None) -> None:
    observation = recorded({"started": written, "ended": written})
    assert (observation.started, observation.ended) == (meaning, meaning)
    assert all(moment is None or moment.tzinfo is UTC for moment in (observation.started, observation.ended))


@pytest.mark.parametrize("reason", ["bogus", ["user"], 7])
def test_a_reason_that_no_one_knows_is_the_jobs_own(reason: Any) -> None:
    observation = recorded({"reason": reason, "message": {"no": "text"}})
    assert (observation.state, observation.reason, observation.message) == (_S.FAILED, _R.USER, "")


def test_unknown_words_decide_nothing() -> None:
    with pytest.raises(Transient):
        observation(replace(COPY, states=frozenset({"DREAMING"})), None)


def test_of_held_copies_the_lowest_stays_and_is_released_when_it_is_old_enough() -> None:
    copies = [replace(COPY, id=9, held=True), replace(COPY, id=8, held=True)]
    young, old = judge(copies, 103.0, 6.0), judge(copies, 106.0, 6.0)
    assert young.copy is not None
    assert (young.copy.id, young.release, old.release) == (8, False, True)
    assert [copy.id for copy in old.surplus] == [9]


def test_a_copy_that_runs_stays_with_any_number() -> None:
    verdict = judge([replace(COPY, id=5, held=True), COPY], 1000.0, 6.0)
    assert verdict.copy == COPY
    assert [copy.id for copy in verdict.surplus] == [5]


def test_a_copy_that_found_the_claim_of_another_says_nothing() -> None:
    idle = replace(COPY, id=3, states=frozenset({"FAILED"}), code=253)
    assert judge([idle, COPY], 1000.0, 6.0).copy == COPY
    assert judge([idle], 1000.0, 6.0).copy == idle


def test_a_start_that_slurm_expected_and_that_is_over_is_not_shown() -> None:
    waits, runs = [replace(one, reason="Priority", started=110.0) for one in (PENDING, COPY)]

    assert [judge([waits], now, 6.0).copy for now in (109.0, 110.0)] == [waits, replace(waits, started=None)]
    assert judge([runs], 110.0, 6.0).copy == runs


def test_nodes_are_counted_in_the_words_of_all_engines() -> None:
    old = [
        {"name": "a", "state": "idle", "state_flags": ["CLOUD", "POWERED_DOWN"], "partitions": ["gpu"]},
        {"name": "b", "state": "allocated", "state_flags": ["CLOUD"], "partitions": ["gpu"]},
        {"name": "c", "state": "down", "state_flags": [], "partitions": ["gpu"], "reason": "broken"},
        {"name": "d", "state": "idle", "state_flags": [], "partitions": ["other"]},
    ]
    new = [
        {**node, "state": [str(node["state"]).upper(), *node["state_flags"]], "state_flags": None}
        for node in old
    ]

    one, other = view(CLUSTER, old), view(CLUSTER, new)

    assert one == other
    assert (one.nodes, one.minimum, one.maximum, one.errors) == (2, 1, 3, ("c: broken",))
    assert one.counts == {"idle": 0, "running": 1, "preparing": 0, "unusable": 1, "leaving": 0}
    assert [member.state for member in one.members] == ["powered_down", "allocated", "down"]


@pytest.mark.parametrize("text", ["{", "[" * 200_000], ids=["broken", "deep"])
async def test_a_record_that_cannot_be_read_decides_nothing(tmp_path: Path, text: str) -> None:
    target = Target(engine="slurm", cluster="gpu", experiment="e", name="n", token="t.1")
    place = tmp_path / "slipway/attempts/e/n"
    (place / "7-0").mkdir(parents=True)
    (place / "turns").mkdir()
    (place / "turns/1").write_text(json.dumps({"token": "t.1", "run": "7-0"}))
    (place / "7-0/result.json").write_text(text)

    with pytest.raises(Transient, match="cannot be read"):
        await Records(replace(CLUSTER, reads={"/shared": str(tmp_path)})).find(target)


@pytest.mark.parametrize("kind", ["pipe", "endless", "large"])
async def test_anything_that_a_job_puts_in_place_of_its_record_is_not_waited_for(
    tmp_path: Path, kind: str
) -> None:
    target = Target(engine="slurm", cluster="gpu", experiment="e", name="n", token="t.1")
    claim = tmp_path / "slipway/attempts/e/n/turns/1"
    claim.parent.mkdir(parents=True)
    if kind == "pipe":
        os.mkfifo(claim)
    elif kind == "endless":
        claim.symlink_to("/dev/zero")
    else:
        claim.write_bytes(b" " * 2_000_000 + b"{}")

    with pytest.raises(Busy, match="record of the attempt cannot be read"):
        await Records(replace(CLUSTER, reads={"/shared": str(tmp_path)})).find(target)


@pytest.mark.parametrize("word", ["CANCELLED", "DEADLINE"])
def test_a_job_that_ended_in_the_queue_never_started(word: str) -> None:
    copy = replace(COPY, states=frozenset({word}), started=120.0, ended=120.0, nodes="")
    assert observation(copy, None).started is None
    assert observation(replace(copy, nodes="n1"), None).started is not None
    assert observation(replace(copy, started=110.0), None).started is not None


@pytest.mark.parametrize(
    ("reason", "word", "text"),
    [
        ("PartitionDown", "PartitionDown", "its partition is down"),
        ("Resources", "Resources", "the nodes that it needs are busy"),
        ("Priority", "Priority", "other jobs come first"),
        (
            "JobHeldAdmin",
            "JobHeldAdmin",
            "held on the cluster: its administrator has to release it",
        ),
        ("BadConstraints", "BadConstraints", "can never start as things stand: no node of the cluster has"),
        ("ReqNodeNotAvail, UnavailableNodes:n1", "ReqNodeNotAvail", "nodes that it needs are down, drained"),
        ("QOSMaxGRESPerUser", "QOSMaxGRESPerUser", "a limit of its quality of service (QOS) is reached"),
        ("AssocGrpCpuLimit", "AssocGrpCpuLimit", "a limit of its account is reached"),
        ("Dependency", "Dependency", "it depends on a job that has not ended"),
        ("SomethingNew", "SomethingNew", "Slurm reports SomethingNew"),
    ],
)
def test_why_a_pending_job_waits(reason: str, word: str, text: str) -> None:
    view = observation(replace(PENDING, reason=reason), None).why
    assert view is not None
    assert view.word == word
    assert view.text.startswith(text)
    assert view.never is text.startswith("can never start")


@pytest.mark.parametrize("reason", ["None", ""])
def test_no_reason_is_no_wait_and_our_own_hold_passes(reason: str) -> None:
    pending = replace(COPY, states=frozenset({"PENDING"}), reason=reason)
    assert observation(pending, None).why is None
    held = observation(replace(pending, reason="JobHeldUser", held=True), None).why
    assert held is not None
    assert held.passes
    assert observation(replace(COPY, reason="PartitionDown"), None).why is None


#: What Slurm says in its own words, beside a reason of its table or of none.
DRAINED = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"
MAINTENANCE = "ReqNodeNotAvail, Reserved for maintenance"


@pytest.mark.parametrize(
    ("reason", "description"),
    [
        ("New", "the moon is full"),
        ("Resources", DRAINED),
        ("Priority", DRAINED),
        ("ReqNodeNotAvail", MAINTENANCE),
    ],
)
def test_slurm_s_own_sentence_comes_before_ours(reason: str, description: str) -> None:
    pending = replace(PENDING, reason=reason, description=description)

    assert observation(pending, None).why == Why(reason, f"Slurm: {description}")


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (MAINTENANCE, "nodes that it needs are down, drained or reserved (Slurm: Reserved for maintenance)"),
        ("Resources: n1", "the nodes that it needs are busy (Slurm: n1)"),
        ("QOSMaxJobs, of ann", "a limit of its quality of service (QOS) is reached (Slurm: of ann)"),
        ("New, and more", "Slurm reports New, and more"),
        (
            "BadConstraints, no h100",
            "can never start as things stand: no node of the cluster has what it asks for (Slurm: no h100)",
        ),
    ],
)
def test_the_words_behind_a_reason_are_kept(reason: str, text: str) -> None:
    view = observation(replace(PENDING, reason=reason), None).why

    assert view is not None
    assert (view.text, view.passes) == (text, False)


_TEXTS = ("state_reason", "state_description", "nodes", "partition")


@pytest.mark.parametrize("word", ["(null)", "", None])
@pytest.mark.parametrize("dialect", [OLD, NEW])
def test_a_text_that_slurm_does_not_have_is_no_text(dialect: Dialect, word: str | None) -> None:
    listed = {
        "job_id": 1,
        "name": "a",
        "user_name": "u",
        "job_state": "PENDING",
        **dict.fromkeys(_TEXTS, word),
    }

    copy = copy_of(dialect, listed)

    assert (copy.reason, copy.description, copy.nodes, copy.partition) == ("", "", "", "")
    assert observation(copy, None).why is None


@pytest.mark.parametrize("member", ["start_time", "end_time"])
def test_a_time_at_the_end_of_time_is_none_or_can_be_shown(member: str) -> None:
    listed = {
        "job_id": 1,
        "name": "a",
        "user_name": "u",
        "job_state": ["PENDING"],
        "state_reason": "Priority",
    }
    with pytest.raises(ValueError, match="not a time"):
        copy_of(NEW, {**listed, member: number(253_402_300_799)})

    view = observation(copy_of(NEW, {**listed, member: number(LATEST)}), None).why

    assert view is not None
    assert ("by 9999-01-01 00:00 UTC" in view.text) is (member == "start_time")


def test_a_wait_that_never_ends_has_slurm_s_sentence_beside_ours() -> None:
    view = observation(replace(PENDING, reason="BadConstraints", description="no h100"), None).why

    assert view is not None
    assert view.never
    assert view.text.endswith("no node of the cluster has what it asks for (Slurm: no h100)")


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        (0, ""),
        (1, "; 1 job is before it in its partition"),
        (9, "; 9 jobs are before it in its partition"),
        (10, "; about 10 jobs are"),
        (44, "; about 40 jobs are"),
        (1_960, "; about 2,000 jobs are"),
    ],
)
def test_the_jobs_before_it_are_counted(ahead: int, words: str) -> None:
    view = observation(replace(PENDING, reason="Priority", ahead=ahead), None).why

    assert view is not None
    assert view.text.startswith(f"other jobs come first{words}")
    assert ("before it" in view.text) is bool(ahead)


@pytest.mark.parametrize(("second", "minute"), [(0, "14:00"), (1, "14:10"), (599, "14:10"), (600, "14:10")])
def test_the_start_that_slurm_expects_is_named_to_ten_minutes(second: int, minute: str) -> None:
    start = datetime(2026, 11, 30, 14, tzinfo=UTC).timestamp() + second
    pending = replace(PENDING, reason="ReqNodeNotAvail", description=MAINTENANCE, started=start)

    view = observation(pending, None).why

    assert view is not None
    assert view.text == f"Slurm: {MAINTENANCE}; Slurm expects it to start by 2026-11-30 {minute} UTC"


def test_a_job_that_is_suspended_runs_and_says_so() -> None:
    suspended = observation(replace(COPY, states=frozenset({"SUSPENDED"})), None)

    assert suspended.state is JobState.RUNNING
    assert suspended.why is not None
    assert (suspended.why.word, "suspended" in suspended.why.text) == ("Suspended", True)
    assert observation(COPY, None).why is None


def test_a_job_that_is_preempted_runs_until_its_grace_is_over_and_says_so() -> None:
    listed = {"job_id": 1, "name": "a", "user_name": "u", "job_state": ["RUNNING"]}

    for time, word in ((0, None), (1_700_000_000, "Saving")):
        view = observation(copy_of(NEW, {**listed, "preempt_time": number(time)}), None)
        assert (view.why and view.why.word) == word


def test_the_jobs_of_a_partition_stand_in_line_by_priority_and_then_by_number() -> None:
    line = [
        replace(PENDING, id=1, priority=5, partition="a"),
        replace(PENDING, id=2, priority=9, partition="a", user="another"),
        replace(PENDING, id=3, priority=5, partition="a"),
        replace(PENDING, id=4, priority=1, partition="b"),
        replace(PENDING, id=5, priority=0, partition="a", held=True),
        replace(COPY, id=6, priority=99, partition="a"),
    ]

    assert {copy.id: copy.ahead for copy in in_line(line)} == {1: 1, 2: 0, 3: 2, 4: 0, 5: 0, 6: 0}
