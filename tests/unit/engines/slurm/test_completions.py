"""The file in which slurmctld notes how jobs ended."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from shared.core.engine import Observation
from shared.core.errors import Transient
from shared.core.job import JobState, Reason, Target
from shared.engines.proofs import Proofs
from shared.engines.shared_records import Records
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.ended.completions import Completions
from shared.engines.slurm.ended.sources import EndSources
from shared.engines.slurm.wire.client import SlurmClient
from shared.engines.slurm.wire.key import SigningKey
from tests.unit.engines.slurm.test_translation import COPY


def line(number: int = 1, **changes: str) -> str:
    """A line as Slurm 22.05 writes it."""
    values = {"UserId": "ada(1000)", "Name": "n", "JobState": "COMPLETED", "StartTime": "2026-11-21T12:00:00"}
    output = values | {"ExitCode": "0:0"} | changes
    return (
        f"JobId={number} UserId={output['UserId']} GroupId=ada(1000) Name={output['Name']} "
        f"JobState={output['JobState']} Partition=warm TimeLimit=3 StartTime={output['StartTime']} "
        "EndTime=2026-11-21T12:00:05 NodeList=warm-1 NodeCnt=1 ProcCnt=4 WorkDir=/ ReservationName= "
        "Tres=cpu=4,mem=4G,node=1,billing=4 Account= QOS= WcKey= Cluster=unknown "
        "SubmitTime=2026-11-21T11:59:50 EligibleTime=2026-11-21T11:59:56 DerivedExitCode=0:0 "
        f"ExitCode={output['ExitCode']} \n"
    )


async def end_of(tmp_path: Path, *lines: str, reads: dict[str, str] | None = None) -> Observation | None:
    """What is said of the attempt `n` of ada."""
    file = tmp_path / "completions.log"
    file.write_text("".join(lines))
    cluster = SlurmCluster(
        "gpu", url="http://127.0.0.1:9", user="ada", shared="/s", completions=str(file), reads=reads or {}
    )
    target = Target(engine="slurm", cluster="gpu", experiment="e", name="n", token="t.1")
    return await EndSources(cluster, SlurmClient(cluster, SigningKey(b"k" * 32)), Records(cluster), {}).find(
        target
    )


@pytest.mark.parametrize(
    ("state", "code", "expected"),
    [
        ("COMPLETED", "0:0", (JobState.SUCCEEDED, None, 0)),
        ("FAILED", "3:0", (JobState.FAILED, Reason.USER, 3)),
        ("FAILED", "124:0", (JobState.FAILED, Reason.TIMEOUT, None)),
        ("NODE_FAIL", "0:0", (JobState.FAILED, Reason.INFRASTRUCTURE, None)),
        ("CANCELLED", "0:15", (JobState.CANCELLED, Reason.TERMINATED, None)),
    ],
)
async def test_a_line_tells_the_end(
    tmp_path: Path, state: str, code: str, expected: tuple[JobState, Reason | None, int | None]
) -> None:
    observation = await end_of(tmp_path, line(JobState=state, ExitCode=code))

    assert observation is not None
    assert (observation.state, observation.reason, observation.exit_code) == expected
    assert observation.ended is None, "the file says no time zone"


@pytest.mark.parametrize(
    ("lines", "state", "reason"),
    [
        ([line(JobState="FAILED", ExitCode="143:0")], JobState.FAILED, Reason.INFRASTRUCTURE),
        ([line(JobState="NODE_FAIL", ExitCode="0:1")], JobState.FAILED, Reason.INFRASTRUCTURE),
        ([line(JobState="CANCELLED", ExitCode="143:0")], JobState.CANCELLED, Reason.TERMINATED),
        ([], JobState.CANCELLED, Reason.TERMINATED),
    ],
    ids=["its node", "a node that was lost", "a request", "unknown"],
)
async def test_a_line_tells_who_asked_a_run_to_end(
    tmp_path: Path, lines: list[str], state: JobState, reason: Reason
) -> None:
    attempt = tmp_path / "shared/attempts/e/n"
    (attempt / "own").mkdir(parents=True)
    (attempt / "turns").mkdir()
    (attempt / "turns/1").write_text('{"token": "t.1", "run": "own"}')
    record = {"state": "ended", "reason": "terminated", "message": "m", "final": False}
    (attempt / "own/result.json").write_text(json.dumps(record))

    observation = await end_of(tmp_path, *lines, reads={"/s": str(tmp_path / "shared")})

    assert observation is not None
    assert (observation.state, observation.reason) == (state, reason)
    assert observation.segment, "its output is found"


@pytest.mark.parametrize(
    "other",
    [
        line(Name="n2"),
        line(UserId="eve(1001)"),
        line(JobState="CANCELLED", StartTime="Unknown"),
        line(ExitCode="253:0", JobState="FAILED"),
        line(Name="x").replace(
            "WorkDir=/", "WorkDir=/JobId=1 UserId=ada(1000) GroupId=g Name=n JobState=FAILED"
        ),
        line().removesuffix(" \n")[:200],
    ],
    ids=[
        "another",
        "another user's",
        "never ran",
        "a copy that ran nothing",
        "a forged one",
        "half written",
    ],
)
async def test_other_lines_say_nothing_of_it(tmp_path: Path, other: str) -> None:
    assert await end_of(tmp_path, other) is None


async def test_the_run_that_was_not_cut_off_counts(tmp_path: Path) -> None:
    observation = await end_of(
        tmp_path,
        line(4, JobState="NODE_FAIL", ExitCode="0:1"),
        line(7, JobState="FAILED", ExitCode="253:0"),
        line(4, JobState="FAILED", ExitCode="5:0"),
    )

    assert observation is not None
    assert observation.exit_code == 5


@pytest.mark.parametrize("number", [1, 4, 9])
@pytest.mark.parametrize("late", [True, False])
async def test_a_line_that_another_user_had_written_takes_no_jobs_end_for_another(
    tmp_path: Path, number: int, late: bool, caplog: pytest.LogCaptureFixture
) -> None:
    own, end = line(4, JobState="FAILED", ExitCode="5:0"), "x JobState=COMPLETED ExitCode=0:0 \n"
    # The name of a job of eve's, with line breaks, as Slurm 22.05 writes it.
    name = f"{end}{line(number)}JobId=9 UserId=eve(1001) GroupId=eve(1001) Name=y"
    forged = line(8, UserId="eve(1001)", Name=name)

    assert await end_of(tmp_path, *([own, forged] if late else [forged, own])) is None
    assert "contradict each other" in caplog.text


async def test_a_file_that_cannot_be_read_decides_nothing(tmp_path: Path) -> None:
    with pytest.raises(Transient, match="completions"):
        await Completions(str(tmp_path / "missing"), "ada").find("n", "t.1")


async def test_a_file_that_hangs_takes_no_thread_that_others_need(tmp_path: Path) -> None:
    file = tmp_path / "completions.log"
    os.mkfifo(file)  # opening it waits for one who writes
    completions = Completions(str(file), "ada")
    waiting = [asyncio.create_task(completions.find("n", "t.1")) for _ in range(40)]
    await asyncio.sleep(0)
    try:
        assert await asyncio.wait_for(asyncio.to_thread(lambda: "done"), 10) == "done"
    finally:
        for task in waiting:
            task.cancel()
        idle = 0
        while idle < 10:  # lets go of the threads that wait, of which some begin to only then
            try:
                os.close(os.open(file, os.O_WRONLY | os.O_NONBLOCK))
                idle = 0
            except OSError:
                idle += 1
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    "text",
    ['{"token": "t.1", "run": "7-0"}', '{"token": "t.2", "run": "7-0"}', '{"token": "t.1"}', "{}", "", "x"],
)
@pytest.mark.parametrize(("code", "signal"), [(127, 0), (126, 0), (0, 9), (0, 53)])
async def test_a_record_without_its_proof_does_not_mean_that_nothing_ran(
    tmp_path: Path, code: int, signal: int, text: str
) -> None:
    """Or a job that spoils its record would get attempts that cost it nothing, for ever."""
    proofs = Proofs(("a secret",))
    cluster = SlurmCluster(
        "gpu", url="http://127.0.0.1:9", user="u", shared="/s", reads={"/s": str(tmp_path)}
    )
    target = Target(engine="slurm", cluster="gpu", experiment="e", name="n", token="t.1")
    turns = tmp_path / Path(cluster.layout.attempt(target)).relative_to("/s") / "turns"
    turns.mkdir(parents=True)
    (turns.parent / "7-0").mkdir()
    for name in ("turns/1", "7-0/result.json"):
        (turns.parent / name).write_text(text)
    sources = EndSources(cluster, SlurmClient(cluster, SigningKey(b"k" * 32)), Records(cluster, proofs), {})

    end = await sources.combine(
        target, replace(COPY, states=frozenset({"FAILED"}), code=code, signal=signal, ended=115.0)
    )

    assert (end.state, end.unstarted) == (JobState.FAILED, False)
    assert end.reason is (Reason.INFRASTRUCTURE if signal == 53 else Reason.USER)
    assert "a record without its proof was found" in end.message
