"""A job that failed keeps its node: where one can look, until a person wants it back, with its own end."""

from __future__ import annotations

import signal
import subprocess
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from shared.engines.recorded import held
from tests.slow.engines.slurm.test_program import Nodes, custom

LONG = timedelta(minutes=10)
#: Fails as an author's mistake does, and leaves something to look at.
FAILS = "echo half > checkpoint; exit 3"


@pytest.fixture
def node(tmp_path: Path) -> Nodes:
    return Nodes(tmp_path)


@pytest.fixture
def two(tmp_path: Path) -> Nodes:
    return Nodes(tmp_path, nodes=2)


def until_held(nodes: Nodes) -> dict[str, Any]:
    """The record of a run whose node is kept, as it is while its command has just failed."""
    end = time.monotonic() + 120
    while not (nodes.root / "records/7-0/result.json").exists() or "held" not in nodes.record():
        assert time.monotonic() < end, "it is not held"
        time.sleep(0.02)
    return nodes.record()


def holders(root: Path) -> list[dict[str, str]]:
    """The environments of the processes that wait in the directory of the job."""
    environments = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            is_there = (path / "cwd").resolve().is_relative_to(root)
            if is_there and b"release" in (path / "cmdline").read_bytes():
                pairs = (path / "environ").read_bytes().decode().split("\0")
                environments.append(dict(pair.split("=", 1) for pair in pairs if "=" in pair))
    return environments


def until_waiting(root: Path, count: int = 1) -> list[dict[str, str]]:
    end = time.monotonic() + 120
    while len(waiting := holders(root)) < count:
        assert time.monotonic() < end, f"{len(waiting)} processes wait"
        time.sleep(0.02)
    return waiting


def release(nodes: Nodes) -> None:
    """As a person on the node does it, in a process of the job."""
    (environment, *_) = until_waiting(nodes.root)
    subprocess.run(["sh", "-c", 'touch "$AZ_BATCHAI_JOB_TEMP/release"'], env=environment, check=True)


def ended(nodes: Nodes, process: subprocess.Popen[bytes]) -> int:
    """The exit code of the run, after which nothing of it is left on the node."""
    code = process.wait(60)
    process.communicate()
    assert holders(nodes.root) == []
    assert not list((nodes.root / "temporary").glob("*"))
    return code


def test_the_end_is_recorded_at_once_and_the_node_kept_until_it_is_released(node: Nodes) -> None:
    process = node.start(**custom(FAILS), hold=LONG)
    record = until_held(node)
    waiting = until_waiting(node.root)

    assert (record["state"], record["reason"], record["code"], record["exitCode"]) == ("ended", "user", 3, 3)
    assert record["final"], "a lost node changes nothing any more"
    assert held(record), "and the app sees it"
    assert process.poll() is None
    directory = Path(waiting[0]["AZ_BATCHAI_JOB_TEMP"], "wd")
    assert (directory / "checkpoint").read_text() == "half\n"
    assert f"exit code 3; kept until {record['held']['until']}" in node.output("execution.log")

    release(node)

    assert ended(node, process) == 3
    assert {**node.record(), "held": 0} == {**record, "held": 0}


def test_one_who_enters_has_the_environment_of_the_job(node: Nodes) -> None:
    variables = [{"name": "COLOUR", "value": "green"}]
    secrets = [{"name": "HF_TOKEN", "value": "$canary"}]
    process = node.start(**custom(FAILS), hold=LONG, environmentVariables=variables, secrets=secrets)
    until_held(node)
    (environment, *_) = until_waiting(node.root)

    assert (environment["COLOUR"], environment["HF_TOKEN"]) == ("green", "$canary")
    assert environment["AZ_BATCHAI_STDOUTERR_DIR"]
    release(node)
    assert ended(node, process) == 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_request_to_end_gives_the_node_back_and_changes_nothing_of_the_end(
    node: Nodes, number: signal.Signals
) -> None:
    process = node.start(**custom(FAILS), hold=LONG)
    until_held(node)
    until_waiting(node.root)
    process.send_signal(number)

    assert ended(node, process) == 3
    assert (node.record()["reason"], node.record()["final"]) == ("user", True)


def test_the_time_is_over(node: Nodes) -> None:
    assert ended(node, node.start(**custom(FAILS), hold=timedelta(seconds=2))) == 3

    assert (node.record()["reason"], node.record()["exitCode"]) == ("user", 3)


def test_no_job_is_kept_beyond_its_wall_clock_limit(node: Nodes) -> None:
    process = node.start(**custom(FAILS), hold=LONG, constraints={"maxWallClockTime": "PT4S"})

    assert ended(node, process) == 3
    assert node.record()["reason"] == "user", "and it did not end by its limit"


@pytest.mark.parametrize("command", ["exit 0", "kill -TERM $PPID; sleep 60"])
def test_only_a_failure_of_the_job_is_held(node: Nodes, command: str) -> None:
    process = node.start(**custom(command), hold=LONG)

    assert ended(node, process) in (0, 143)
    assert "held" not in node.record()


def test_a_failed_preparation_is_not_held(node: Nodes) -> None:
    assert node.run(**custom(FAILS), jobPreparation={"commandLine": "exit 1"}, hold=LONG) == 251
    assert "held" not in node.record()


def test_a_job_that_did_not_ask_for_it_is_not_held(node: Nodes) -> None:
    assert node.run(**custom(FAILS)) == 3
    assert "held" not in node.record()


def test_a_run_that_starts_again_after_the_loss_of_the_node_answers_with_the_end(node: Nodes) -> None:
    process = node.start(**custom(FAILS), hold=LONG)
    record = until_held(node)
    until_waiting(node.root)
    process.kill()
    process.communicate()
    again = node.start(**custom("touch ran"), hold=LONG, restarts="1")

    assert again.wait(60) == 3
    again.communicate()
    assert node.record() == record
    for environment in holders(node.root):
        Path(environment["AZ_BATCHAI_JOB_TEMP"], "release").touch()


def test_all_nodes_of_a_job_are_kept_and_given_back_together(two: Nodes) -> None:
    settings = {"pythonScriptFilePath": "none.py", "processCount": 2}
    process = two.start(pyTorchSettings=settings, hold=LONG)
    record = until_held(two)

    assert {one["NODE"] for one in until_waiting(two.root, 2)} == {"node0", "node1"}
    release(two)
    assert ended(two, process) == record["code"] != 0
