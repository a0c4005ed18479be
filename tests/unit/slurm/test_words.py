"""What jobs, nodes and records say, in our words."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared.engines.slurm.copies import judge
from shared.engines.slurm.dialect import DIALECTS, Copy, comment, copy_of
from shared.engines.slurm.nodes import view
from shared.engines.slurm.records import Records
from shared.engines.slurm.words import observation, recorded
from shared.errors import NotFound, Transient
from shared.job import JobState, Reason, Target
from tests.unit.slurm.launch_plans import CLUSTER

OLD, NEW = DIALECTS[-1], DIALECTS[0]
COPY = Copy(
    id=7,
    name="n",
    token="t.1",
    wanted=None,
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
    nodes="n1",
)
_S, _R = JobState, Reason


def number(value: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": value}


def test_both_dialects_say_the_same_of_a_job() -> None:
    common = {
        "job_id": 7,
        "name": "n",
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
    assert (one.token, one.wanted, one.code, one.states) == ("t.1", 3000, 3, frozenset({"FAILED"}))


@pytest.mark.parametrize(
    "text",
    ["", "a note", "[1]", None, "{", pytest.param("[" * 200_000, id="deep")],
)
def test_a_comment_of_somebody_else_is_no_mark(text: str | None) -> None:
    assert copy_of(OLD, {"job_id": 1, "comment": text}).token == ""


@pytest.mark.parametrize(
    ("states", "code", "meant"),
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
        ({"OUT_OF_MEMORY"}, 0, (_S.FAILED, _R.USER, 0)),
    ],
)
def test_a_state_of_slurm_in_ours(states: set[str], code: int, meant: tuple[Any, ...]) -> None:
    seen = observation(replace(COPY, states=frozenset(states), code=code), None)
    told = seen.exit_code if seen.state.terminal else None
    assert (seen.state, seen.reason, told) == meant


def test_a_script_that_could_not_even_start_is_no_fault_of_the_job() -> None:
    seen = observation(replace(COPY, states=frozenset({"FAILED"}), signal=53), None)
    assert (seen.reason, seen.exit_code) == (_R.INFRASTRUCTURE, None)


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


@pytest.mark.parametrize("code", ["boom", True, 1.5, [3], 2**64])
def test_an_exit_code_that_is_none_is_left_out(code: Any) -> None:
    assert recorded({"reason": "user", "exitCode": code}).exit_code is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-01-01T00:00:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01T01:00:00+01:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("yesterday", None),
        ("0001-01-01T00:00:00+01:00", None),
        (5, None),
    ],
)
def test_a_time_in_a_record_is_in_utc_or_left_out(written: Any, meant: datetime | None) -> None:
    seen = recorded({"started": written, "ended": written})
    assert (seen.started, seen.ended) == (meant, meant)
    assert all(moment is None or moment.tzinfo is UTC for moment in (seen.started, seen.ended))


@pytest.mark.parametrize("reason", ["bogus", ["user"], 7])
def test_a_reason_that_nobody_knows_is_the_jobs_own(reason: Any) -> None:
    seen = recorded({"reason": reason, "message": {"no": "text"}})
    assert (seen.state, seen.reason, seen.message) == (_S.FAILED, _R.USER, "")


def test_unknown_words_decide_nothing() -> None:
    with pytest.raises(Transient):
        observation(replace(COPY, states=frozenset({"DREAMING"})), None)


def test_of_held_copies_the_lowest_stays_and_is_released_when_it_is_old_enough() -> None:
    copies = [replace(COPY, id=9, held=True), replace(COPY, id=8, held=True)]
    young, old = judge(copies, 103.0, 6.0), judge(copies, 106.0, 6.0)
    assert young.kept is not None
    assert (young.kept.id, young.release, old.release) == (8, False, True)
    assert [copy.id for copy in old.surplus] == [9]


def test_a_copy_that_runs_stays_whatever_its_number() -> None:
    verdict = judge([replace(COPY, id=5, held=True), COPY], 1000.0, 6.0)
    assert verdict.kept == COPY
    assert [copy.id for copy in verdict.surplus] == [5]


def test_a_copy_that_found_the_claim_of_another_says_nothing() -> None:
    idle = replace(COPY, id=3, states=frozenset({"FAILED"}), code=253)
    assert judge([idle, COPY], 1000.0, 6.0).kept == COPY
    assert judge([idle], 1000.0, 6.0).kept == idle


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
    (place / "claim.json").write_text(json.dumps({"token": "t.1", "run": "7-0"}))
    (place / "7-0/result.json").write_text(text)

    with pytest.raises(Transient, match="cannot be read"):
        await Records(replace(CLUSTER, reads={"/shared": str(tmp_path)})).of(target)


@pytest.mark.parametrize("kind", ["pipe", "endless", "large"])
async def test_whatever_a_job_puts_in_place_of_its_record_is_not_waited_for(
    tmp_path: Path, kind: str
) -> None:
    target = Target(engine="slurm", cluster="gpu", experiment="e", name="n", token="t.1")
    claim = tmp_path / "slipway/attempts/e/n/claim.json"
    claim.parent.mkdir(parents=True)
    if kind == "pipe":
        os.mkfifo(claim)
    elif kind == "endless":
        claim.symlink_to("/dev/zero")
    else:
        claim.write_bytes(b" " * 2_000_000 + b"{}")

    with pytest.raises(Transient, match=r"claim\.json of the attempt cannot be read"):
        await Records(replace(CLUSTER, reads={"/shared": str(tmp_path)})).of(target)


async def test_records_are_read_within_what_is_seen_and_no_link_leads_out(tmp_path: Path) -> None:
    target = Target(engine="slurm", cluster="gpu", experiment="e", name="n", token="t.1")
    place, logs = tmp_path / "slipway/attempts/e/n", tmp_path / "logs"
    (place / "7-0").mkdir(parents=True)
    logs.mkdir()
    (tmp_path / "secret").write_text("s")
    (logs / "stdout.txt").write_text("out")
    (logs / "leak.txt").symlink_to(tmp_path / "secret")
    records = Records(replace(CLUSTER, reads={"/shared": str(tmp_path)}))
    (place / "claim.json").write_text(json.dumps({"token": "t.1", "run": "7-0"}))
    (place / "7-0/result.json").write_text(
        json.dumps({"directories": {"stdouterr": "/shared/logs", "X": "/etc"}})
    )

    assert [file.name for file in await records.files(target, "stdouterr", ".")] == ["stdout.txt"]
    assert (await records.log(target, "stdout.txt", 1, 9)).data == b"ut"
    for file in ("leak.txt", "../secret", "/etc/passwd"):
        with pytest.raises(NotFound):
            await records.log(target, file, 0, 9)
    with pytest.raises(NotFound):
        await records.files(target, "X", ".")
    with pytest.raises(NotFound, match="begun"):
        await records.files(target.model_copy(update={"token": "other"}), "stdouterr", ".")
    with pytest.raises(NotFound, match="reads"):
        await Records(replace(CLUSTER, reads={})).files(target, "stdouterr", ".")
