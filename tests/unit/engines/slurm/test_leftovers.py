"""What attempts leave in the directory that the nodes share, and the job that removes it."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from shared.core.errors import Saturated, Transient
from shared.core.job import Target
from shared.engines.launch.plan import PLAN, forgetting
from shared.engines.leftovers import FORGET
from tests.crash.slurm.slurmrestd import Wire
from tests.unit.engines.slurm.test_engine import BOTH, Rig, slurm_rig

OLD_AGE = 1_000_000.0


def target(name: str = "n", token: str = "t.1") -> Target:
    return Target(engine="slurm", cluster="gpu", experiment="e", name=name, token=token)


def begun(shared: Path, name: str = "n", token: str = "t.1", run: str = "7-0") -> Path:
    """The directory of an attempt that ran."""
    attempt = shared / "attempts/e" / name
    (attempt / run / "shared").mkdir(parents=True)
    (attempt / "claim.json").write_text(json.dumps({"token": token, "run": run}))
    return attempt


def cleanup(slurm: Rig) -> list[dict[str, Any]]:
    """The plans of the jobs that clean up."""
    return [json.loads(one.environment[PLAN]) for one in slurm.model.jobs.values() if one.name == FORGET]


def run(plan: dict[str, Any]) -> int:
    """The program that nodes are sent, in this process; its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLAN, json.dumps(plan))
        with pytest.raises(SystemExit) as ended:
            exec(forgetting(), {"__name__": "__main__"})
    return int(str(ended.value.code))


@BOTH
async def test_attempts_are_forgotten_once_their_directories_are_gone(version: str, tmp_path: Path) -> None:
    options = {"shared": str(tmp_path), "reads": {str(tmp_path): str(tmp_path)}}
    attempt = begun(tmp_path)
    async with slurm_rig(version, options=options) as rig:
        assert await rig.engine.forget("gpu", [target(), target("never")]) == {"n"}
        (plan,) = cleanup(rig)
        assert plan["attempts"] == [[str(attempt), "t.1", f"{tmp_path}/saved/t"]]

        assert run(plan) == 0

        assert await rig.engine.forget("gpu", [target(), target("never")]) == frozenset()
        assert len(cleanup(rig)) == 1


async def test_where_the_directory_is_not_seen_a_job_that_slurm_took_is_trusted() -> None:
    async with slurm_rig(options={"ends": "/ends"}) as rig:
        assert await rig.engine.forget("gpu", [target()]) == frozenset()
        assert cleanup(rig) == [
            {
                "attempts": [["/shared/attempts/e/n", "t.1", "/shared/saved/t"]],
                "outputs": "/shared",
                "ends": "/ends",
            }
        ]
        assert await rig.engine.at_work("gpu") == {}


async def test_another_jobs_attempt_of_that_name_is_no_leftover(tmp_path: Path) -> None:
    options = {"shared": str(tmp_path), "reads": {str(tmp_path): str(tmp_path)}}
    begun(tmp_path, token="another.1")
    async with slurm_rig(options=options) as rig:
        assert await rig.engine.forget("gpu", [target()]) == frozenset()
        assert cleanup(rig) == []


async def test_so_many_such_jobs_are_waited_for() -> None:
    async with slurm_rig() as rig:
        for number in range(16):
            assert await rig.engine.forget("gpu", [target(f"n{number}")]) == frozenset()
        assert await rig.engine.forget("gpu", [target("n16")]) == {"n16"}
        for job in list(rig.model.jobs.values()):
            rig.model.cancel(job.id)
        assert await rig.engine.forget("gpu", [target("n16")]) == frozenset()


async def test_one_job_gets_a_bounded_number_of_attempts() -> None:
    targets = [target(f"n{number}") for number in range(502)]
    async with slurm_rig() as rig:
        assert await rig.engine.forget("gpu", targets) == {"n500", "n501"}
        (plan,) = cleanup(rig)
        assert len(plan["attempts"]) == 500


async def test_it_asks_for_little_and_for_what_every_job_of_the_cluster_needs() -> None:
    resources = {"gpus": 2, "cpus": 8, "qos": "normal", "options": {"licenses": "x"}}
    options = {"gpus": 4, "partition": "p", "account": "a", "resources": resources}
    async with slurm_rig(options=options) as rig:
        await rig.engine.forget("gpu", [target()])
        messages = rig.server.submitted[-1]
    assert (messages["partition"], messages["account"], messages["qos"]) == ("p", "a", "normal")
    assert (messages["nodes"], messages["tasks"], messages["cpus_per_task"]) == ("1", 1, 1)
    assert not {"gres", "exclusive", "licenses", "hold"} & messages.keys()


async def test_a_cluster_that_takes_nothing_or_says_nothing_is_asked_again() -> None:
    async with slurm_rig() as rig:
        rig.server.says, rig.server.takes = (2007, "too many jobs"), False
        with pytest.raises(Saturated):
            await rig.engine.forget("gpu", [target()])
    async with slurm_rig(wire={1: Wire.CONTROLLER_DOWN}) as rig:
        with pytest.raises(Transient):
            await rig.engine.forget("gpu", [target()])


def test_the_program_removes_all_of_an_attempt_and_nothing_of_another(tmp_path: Path) -> None:
    attempt, other = begun(tmp_path), begun(tmp_path, "other", "another.1", "9-0")
    (tmp_path / "logs/stdouterr").mkdir(parents=True)
    (attempt / "7-0/shared/link").symlink_to(tmp_path / "logs")
    (tmp_path / "ends/t.1").mkdir(parents=True)
    for job in ("t", "another", "gone"):
        (tmp_path / "saved" / job / "deep").mkdir(parents=True)
    (tmp_path / "saved/t/link").symlink_to(tmp_path / "logs")
    for number in (7, 9):
        (tmp_path / f"{number}.out").touch()
    plan = {
        "attempts": [
            [str(attempt), "t.1", f"{tmp_path}/saved/t"],
            [str(other), "t.1", f"{tmp_path}/saved/another"],
            [str(tmp_path / "gone"), "t.9", f"{tmp_path}/saved/gone"],
        ],
        "outputs": str(tmp_path),
        "ends": str(tmp_path / "ends"),
    }

    assert run(plan) == run(plan) == 0

    assert not attempt.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "9.out",
        "attempts",
        "ends",
        "logs",
        "saved",
    ]
    assert [path.name for path in (tmp_path / "saved").iterdir()] == ["another"]
    assert list((tmp_path / "ends").iterdir()) == []
    assert [path.name for path in attempt.parent.iterdir()] == ["other"]
    assert (tmp_path / "logs/stdouterr").is_dir()


def test_the_output_of_a_later_job_with_the_same_number_stays(tmp_path: Path) -> None:
    attempt = begun(tmp_path)
    os.utime(attempt / "7-0", (OLD_AGE, OLD_AGE))
    (tmp_path / "7.out").touch()

    run({"attempts": [[str(attempt), "t.1", f"{tmp_path}/saved/t"]], "outputs": str(tmp_path), "ends": ""})

    assert not attempt.exists()
    assert (tmp_path / "7.out").exists()


def test_one_that_cannot_be_removed_keeps_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = begun(tmp_path, "first"), begun(tmp_path, "second")
    rmtree = shutil.rmtree

    def refused(path: str) -> None:
        if path == str(first):
            raise PermissionError(errno.EACCES, "Permission denied")
        rmtree(path)

    monkeypatch.setattr(shutil, "rmtree", refused)  # and unit tests start no `rm`
    attempts = [[str(one), "t.1", f"{tmp_path}/saved/t"] for one in (first, second)]
    plan = {"attempts": attempts, "outputs": str(tmp_path), "ends": ""}

    assert run(plan) == 1

    assert not second.exists()


def test_a_claim_without_an_end_keeps_no_other(tmp_path: Path) -> None:
    first, second = begun(tmp_path, "first"), begun(tmp_path, "second")
    (first / "claim.json").write_text("[" * 200_000)
    attempts = [[str(one), "t.1", f"{tmp_path}/saved/t"] for one in (first, second)]
    plan = {"attempts": attempts, "outputs": str(tmp_path), "ends": ""}

    assert run(plan) == 0

    assert list(second.parent.iterdir()) == []


def test_an_attempt_that_was_never_claimed_goes_as_well(tmp_path: Path) -> None:
    attempt = tmp_path / "attempts/e/n"
    attempt.mkdir(parents=True)
    assert (
        run(
            {"attempts": [[str(attempt), "t.1", f"{tmp_path}/saved/t"]], "outputs": str(tmp_path), "ends": ""}
        )
        == 0
    )
    assert not attempt.exists()
