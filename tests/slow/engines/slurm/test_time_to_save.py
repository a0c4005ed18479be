"""A job that is asked to end has its time to save: all of it, also what a shell started."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.saving import SAVE, WAYS
from tests.slow.engines.slurm.test_program import Nodes, custom


@pytest.fixture
def node(tmp_path: Path) -> Nodes:
    return Nodes(tmp_path)


def saving(nodes: Nodes, way: str = "below a shell", *, seconds: float = 2, grace: int = 30) -> str:
    """The command of such a job."""
    nodes.site = replace(nodes.site, grace=grace)
    program = nodes.root / "save.py"
    program.write_text(SAVE)
    return WAYS[way].format(save=f"{sys.executable} {program} {nodes.root} {seconds}")


@pytest.mark.parametrize("way", WAYS)
def test_a_job_that_is_asked_to_end_saves_however_it_was_started(node: Nodes, way: str) -> None:
    process = node.start(**custom(saving(node, way)))
    node.until("began")
    process.send_signal(signal.SIGTERM)

    assert process.wait(60) == 143
    process.communicate()
    assert (node.root / "saved").read_text() == "all"
    assert (node.root / "asked").read_text() == "x", "a second signal could end it while it saves"
    assert (node.record()["reason"], node.record()["final"]) == ("terminated", False)


def test_a_job_saves_at_its_wall_clock_limit(node: Nodes) -> None:
    assert node.run(**custom(saving(node)), constraints={"maxWallClockTime": "PT3S"}) == 124

    assert (node.root / "saved").read_text() == "all"
    assert (node.root / "asked").read_text() == "x"
    assert node.record()["reason"] == "timeout"


def test_a_request_that_is_repeated_reaches_a_job_once(node: Nodes) -> None:
    process = node.start(**custom(saving(node)))
    node.until("began")
    process.send_signal(signal.SIGTERM)
    node.until("asked")
    process.send_signal(signal.SIGTERM)

    assert process.wait(60) == 143
    process.communicate()
    assert ((node.root / "saved").read_text(), (node.root / "asked").read_text()) == ("all", "x")


@pytest.mark.parametrize("way", ["alone", "below a shell", "in a group of its own"])
def test_what_saves_for_too_long_is_killed_with_all_that_it_started(node: Nodes, way: str) -> None:
    process = node.start(**custom(saving(node, way, seconds=600, grace=1)))
    node.until("began")
    process.send_signal(signal.SIGTERM)

    assert process.wait(60) == 143
    process.communicate()
    assert not (node.root / "saved").exists()
    remaining = [path for path in Path("/proc").glob("[0-9]*/cmdline") if runs(path, node.root / "save.py")]
    assert not remaining


def runs(path: Path, program: Path) -> bool:
    """Whether the process of that file still runs the program."""
    try:
        return str(program).encode() in path.read_bytes()
    except OSError:
        return False


def test_what_a_command_leaves_behind_that_ended_by_itself_is_not_waited_for(node: Nodes) -> None:
    command = saving(node, seconds=600).partition("\n")[0]

    assert node.run(**custom(f"{command} &\nwhile [ ! -e {node.root}/began ]; do sleep 0.1; done")) == 0

    assert not (node.root / "saved").exists()


def test_a_process_that_has_a_session_of_its_own_holds_up_no_end(node: Nodes) -> None:
    command = saving(node, seconds=600)
    process = node.start(**custom(f"setsid {command}"))
    node.until("began")
    process.send_signal(signal.SIGTERM)

    assert process.wait(20) == 143
    process.communicate()
    (other,) = [path for path in Path("/proc").glob("[0-9]*/cmdline") if runs(path, node.root / "save.py")]
    os.kill(int(other.parent.name), signal.SIGKILL)


def test_a_job_can_read_how_long_it_has(node: Nodes) -> None:
    node.site = replace(node.site, grace=17)

    assert node.run(**custom("echo $SLIPWAY_GRACE")) == 0

    assert node.output("stdout.txt") == "17\n"
