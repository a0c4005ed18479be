"""A node that goes down asks every process on it to end, not only the first: no step has failed by that."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shared.engines.node.ends import End, asked_end
from shared.engines.node.mounting import mount
from tests.slow.engines.slurm.test_program import Nodes, custom

#: Asks the program and itself to end, as soon as the test has said which process the program is.
ALL_ASKED = """\
while [ ! -e "{root}/pid" ]; do sleep 0.02; done
kill -TERM "$(cat "{root}/pid")" $$
"""


@pytest.fixture
def node(tmp_path: Path) -> Nodes:
    """A node that is asked while the program asks for its hosts."""
    nodes = Nodes(tmp_path)
    hosts = ("sh", "-c", ALL_ASKED.format(root=tmp_path))
    nodes.site = replace(nodes.site, scheduler=replace(nodes.site.scheduler, hosts=hosts))
    return nodes


def run(nodes: Nodes, **properties: Any) -> int:
    """The exit code of a run whose commands know which process the program is."""
    process = nodes.start(**properties)
    number_file = nodes.root / "pid.new"
    number_file.write_text(f"{process.pid}\n")
    number_file.rename(nodes.root / "pid")
    code = process.wait(60)
    process.communicate()
    return code


def test_a_run_that_is_asked_with_all_its_processes_may_be_run_again(node: Nodes) -> None:
    assert run(node, **custom("true")) == 143

    assert (node.record()["reason"], node.record()["final"]) == ("terminated", False)
    assert [one.name for one in (node.root / "records/turns").iterdir()] == ["1"], "another run may follow"


def test_volumes_that_were_not_mounted_since_the_node_goes_down_are_not_the_jobs_fault(
    tmp_path: Path,
) -> None:
    asked_after = iter([False, True])

    def check() -> None:
        """The signal comes when the process has ended by its own one, and before that is noticed."""
        if next(asked_after):
            raise asked_end()
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)

    step = {
        "service": False,
        "isFar": False,
        "environment": [],
        "literal": {},
        "files": ["mounting.txt", "mounting.txt"],
    }
    plan = {"mounting": [step | {"argv": ["sh", "-c", "kill -TERM $$"]}], "links": [], "volumes": []}

    with pytest.raises(End) as ending:
        mount(plan, {"SLIPWAY_TEMP": str(tmp_path), "PATH": os.environ["PATH"]}, check)

    assert (ending.value.reason, ending.value.final) == ("terminated", False)


#: The first rank fails by itself once the other one is there, which asks the program to end as it has to.
_FAILS = """\
if [ "$AZ_BATCHAI_TASK_INDEX" = 0 ]; then
  while [ ! -e "{root}/pid" ] || [ ! -e "{root}/began" ]; do sleep 0.02; done
  exit 3
fi
trap 'kill -TERM "$(cat "{root}/pid")"; exit 0' TERM
touch "{root}/began"
sleep 60 & wait
"""


def test_a_rank_that_failed_before_the_run_was_asked_keeps_its_code(tmp_path: Path) -> None:
    script = tmp_path / "train.sh"
    script.write_text(_FAILS.format(root=tmp_path))
    settings = {"pythonScriptFilePath": str(script), "pythonInterpreterPath": "sh", "workerCount": 2}
    nodes = Nodes(tmp_path, nodes=2)

    assert run(nodes, tensorFlowSettings=settings) == 3

    record = nodes.record()
    assert (record["reason"], record["final"], record["exitCode"]) == ("user", True, 3)
