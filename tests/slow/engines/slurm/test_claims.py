"""Whose turn an attempt is: runs of the program beside each other, and one attempt after another."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from shared.core.engine import Earlier
from shared.core.job import Target
from shared.engines.node.claim import Claim, Silent
from shared.engines.node.ends import End
from shared.engines.node.proof import Proof
from shared.engines.node.store import Directory
from shared.engines.node.turns import Turns
from shared.engines.proofs import Proofs
from tests.slow.engines.slurm.test_program import Nodes, custom


@pytest.fixture
def node(tmp_path: Path) -> Nodes:
    return Nodes(tmp_path)


def waits(node: Nodes) -> str:
    """A command that says so when it began, and ends when it may."""
    until = f"until [ -e {node.root}/go ]; do sleep 0.1; done"
    return f"echo $$ > {node.root}/pid; touch {node.root}/began; {until}"


def test_a_first_attempt_that_lives_on_is_over_before_the_second_one_runs(node: Nodes) -> None:
    """Its node was given up (NODE_FAIL), and its processes live on."""
    old = node.start(**custom(waits(node)))
    node.until("began")
    pid = (node.root / "pid").read_text().strip()

    new = node.second(**custom(f"kill -0 {pid} && exit 9; exit 3"))

    assert (new.wait(60), old.wait(60)) == (3, 254)
    assert node.record()["state"] == "running", "it has nothing more to say"
    record = json.loads((node.root / "second/8-0/result.json").read_text())
    assert (record["exitCode"], record["token"]) == (3, "t.2")
    for process in (old, new):
        process.communicate()


def test_a_first_attempt_that_came_to_its_end_answers_for_the_second(node: Nodes) -> None:
    """Its node was given up although the run went on to its end, of which nothing was heard."""
    node.site = replace(node.site, ends=str(node.root / "ends"))
    assert node.run(**custom("exit 5")) == 5

    new = node.second(**custom(f"touch {node.root}/ran"))

    assert new.wait(60) == 5
    new.communicate()
    record = json.loads((node.root / "second/8-0/result.json").read_text())
    assert (record["reason"], record["exitCode"], record["final"]) == ("user", 5, True)
    assert (record["token"], record["run"]) == ("t.2", "8-0")
    assert record["answers"] == {"name": "records", "run": "7-0"}
    assert json.loads((node.root / "ends/t.2/result.json").read_text()) == record
    assert not (node.root / "ran").exists()


def test_an_end_that_is_known_is_followed_by_the_next_attempt(node: Nodes) -> None:
    assert node.run(**custom("exit 5")) == 5

    new = node.second("user", **custom("exit 0"))

    assert new.wait(60) == 0
    new.communicate()


def test_an_end_that_one_attempt_has_reported_is_not_reported_by_the_one_after_it(node: Nodes) -> None:
    assert node.run(**custom("exit 5")) == 5
    second = node.second(**custom("exit 0"))
    assert second.wait(60) == 5
    second.communicate()
    node.site = replace(node.site, records=str(node.root / "third"))
    names = (("second", "t.2", "user"), ("records", "t.1", "infrastructure"))
    earlier = tuple(
        Earlier(Target(engine="slurm", cluster="c", experiment="e", name=name, token=token), reason)
        for name, token, reason in names
    )

    third = node.start(job="9", once="s3", token="t.3", earlier=earlier, **custom("exit 0"))

    assert third.wait(60) == 0
    third.communicate()


def test_a_first_attempt_that_starts_after_the_second_runs_nothing(node: Nodes) -> None:
    new = node.second(**custom("exit 0"))
    assert new.wait(60) == 0
    new.communicate()
    node.site = replace(node.site, records=str(node.root / "records"))

    assert node.run(**custom(f"touch {node.root}/ran")) == 254

    assert not (node.root / "ran").exists()


def two(root: Path) -> tuple[Claim, Claim]:
    """The first attempt of a job, which runs, and the second, which has its own claim."""
    first, second = Claim(Directory(root / "n-1"), "t.1", "s1"), Claim(Directory(root / "n-2"), "t.2", "s2")
    first.take(["7", "0"])
    first.record({"final": False, "state": "running"})
    second.take(["8", "0"])
    return first, second


FIRST = [["n-1", "t.1", "infrastructure"]]
END = {"final": True, "state": "ended", "reason": "", "code": 0}


def test_an_end_is_written_only_by_a_run_that_still_has_the_attempt(tmp_path: Path) -> None:
    """The claim is lost between the last look at it and the end."""
    first, second = two(tmp_path)
    first.leave()
    assert first.is_held()
    assert second.take_from(FIRST) is None
    assert not first.is_held()

    with pytest.raises(Silent):
        first.record(END)

    assert json.loads((tmp_path / "n-1/7-0/result.json").read_text())["state"] == "running"
    assert second.is_held()


def test_an_end_that_was_written_in_time_stands(tmp_path: Path) -> None:
    first, second = two(tmp_path)
    first.record(END)

    result = second.take_from(FIRST)

    assert result is not None
    assert result["answers"] == {"name": "n-1", "run": "7-0"}
    with pytest.raises(Silent) as silent:
        Claim(Directory(tmp_path / "n-1"), "t.1", "s1").take(["7", "1"])
    assert silent.value.code == 0


def test_an_attempt_of_another_job_is_left_alone(tmp_path: Path) -> None:
    first, second = two(tmp_path)

    assert second.take_from([["n-1", "x.1", "infrastructure"]]) is None

    assert first.is_held()


def test_a_turn_that_cannot_be_read_is_not_taken_for_free(node: Nodes) -> None:
    """Where there is no key; with one, only what has its proof is a turn."""
    node.proofs = Proofs()
    node.run(**custom("exit 5"))
    (node.root / "records/turns/2").write_text("")

    process = node.start(job="9", **custom("touch $AZ_BATCHAI_MOUNT_ROOT/ran"))

    _, errors = process.communicate(timeout=60)
    assert (process.returncode, b"cannot be read" in errors) == (250, True)
    assert not (node.root / "mnt/ran").exists()


def test_a_run_that_waited_longer_than_its_signatures_live_claims_nothing(node: Nodes) -> None:
    node.site = replace(node.site, start_by=datetime(2026, 1, 1, tzinfo=UTC))

    assert node.run(**custom("touch $AZ_BATCHAI_MOUNT_ROOT/ran")) == 249

    assert not (node.root / "mnt/ran").exists()
    assert not (node.root / "records").exists()


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_a_volume_without_hard_links_is_named_and_so_is_what_to_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(source: str, target: str) -> None:
        raise OSError(number, os.strerror(number), source, None, target)

    monkeypatch.setattr(os, "link", refuse)

    with pytest.raises(OSError, match=r"no hard links.*Azure Files by NFS.*turns/1"):
        Turns(Directory(tmp_path)).add(0, {"token": "t.1"})
    assert [path.name for path in tmp_path.rglob("*")] == ["turns"], "it leaves nothing"


def test_a_run_ends_at_the_request_of_the_app_and_not_at_one_that_a_job_wrote(tmp_path: Path) -> None:
    attempt = Directory(tmp_path / "attempt", Proof(("0f" * 32,)))
    claim = Claim(attempt, "t.1", "s1")
    claim.take(["7"])
    (tmp_path / "attempt/asked").write_text('{"asked": 1.0}')
    claim.check(can_be_asked=True)

    attempt.write("asked", {"asked": 1.0})

    claim.check(can_be_asked=False)
    with pytest.raises(End) as ending:
        claim.check(can_be_asked=True)
    assert (ending.value.code, ending.value.reason, ending.value.final) == (143, "terminated", True)
