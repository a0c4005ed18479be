"""A node that goes down asks every process on it to end, not only the first: no step has failed by that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

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


def test_a_run_that_is_asked_with_all_its_processes_may_be_run_again(node: Nodes) -> None:
    process = node.start(**custom("true"))
    number_file = node.root / "pid.new"
    number_file.write_text(f"{process.pid}\n")
    number_file.rename(node.root / "pid")

    assert process.wait(60) == 143
    process.communicate()

    assert (node.record()["reason"], node.record()["final"]) == ("terminated", False)
    assert [one.name for one in (node.root / "records/turns").iterdir()] == ["1"], "another run may follow"
