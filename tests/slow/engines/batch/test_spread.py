"""The program that starts processes on other nodes: real agents, each the node of its name."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from local.patience import Patience
from shared.engines.launch.plan import spreading

#: Seconds without any progress.
PATIENCE = 60.0


class Nodes:
    """Some nodes of one task, on this machine."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder, self.count = folder, count
        self.program = folder / "spread.py"
        self.program.write_text(spreading())

    def env(self, node: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "AZ_BATCH_NODE_ID": node,
            "AZ_BATCH_TASK_WORKING_DIR": str(self.folder),
            "AZ_BATCH_MASTER_NODE": "127.0.0.1:6000",
            "SLIPWAY_AGENTS": str(self.folder / "agents"),
            "SLIPWAY_AGENT_KEY": "k",
            "SLIPWAY_NODES": str(self.count),
        }

    def run(self, *words: str, node: str = "n0", **more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(self.program), *words]
        return subprocess.run(
            command, env=self.env(node) | more, capture_output=True, text=True, timeout=PATIENCE, check=False
        )

    def begin(self, *words: str, **more: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(self.program), *words]
        env = self.env("n0") | more
        return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)

    def announced(self) -> list[dict[str, Any]]:
        folder = self.folder / "agents"
        return [json.loads(entry.read_text()) for entry in (folder.iterdir() if folder.exists() else ())]

    def agents(self) -> list[int]:
        return [one["pid"] for one in self.announced() if "pid" in one]


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    result = Nodes(tmp_path, 2)
    for name in ("n1", "n0"):
        assert result.run("serve", node=name).returncode == 0
    yield result
    for process in result.agents():
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def test_the_node_that_asks_is_the_first_and_only_nodes_that_answer_count(nodes: Nodes) -> None:
    stopped = {"node": "gone", "address": "127.0.0.1", "port": 1}
    (nodes.folder / "agents" / "gone").write_text(json.dumps(stopped))

    assert nodes.run("hosts").stdout.split() == ["n0", "n1"]
    assert nodes.run("hosts", node="n1").stdout.split() == ["n1", "n0"]


def test_nodes_of_one_machine_go_by_the_addresses_that_the_scheduler_gave_them(nodes: Nodes) -> None:
    listed = {"AZ_BATCH_HOST_LIST": "127.0.0.2,127.0.0.3"}
    assert nodes.run("hosts", **listed).stdout.split() == ["127.0.0.2", "127.0.0.3"]
    assert nodes.run("rsh", "127.0.0.3", "echo", "$AZ_BATCH_NODE_ID").stdout == "n1\n"


def test_ranks_are_spread_in_blocks_with_the_caller_s_environment(nodes: Nodes) -> None:
    nodes.run("hosts")

    shell = 'echo "$SLIPWAY_RANK $AZ_BATCH_NODE_ID $WHERE"; echo oops >&2'
    every = nodes.run("on", "2", "3", "0", "bash", "-c", shell, WHERE="there")
    second = nodes.run("on", "1", "1", "1", "bash", "-c", shell)

    assert every.returncode == 0
    assert sorted(every.stdout.splitlines()) == ["0 n0 there", "1 n0 there", "2 n1 there"]
    assert every.stderr.count("oops") == 3
    assert second.stdout.split() == ["0", "n1"]


def test_the_first_that_fails_ends_the_others(nodes: Nodes) -> None:
    nodes.run("hosts")

    shell = 'if [ "$SLIPWAY_RANK" = 1 ]; then exit 7; fi; sleep 1000'
    assert nodes.run("on", "2", "2", "0", "bash", "-c", shell).returncode == 7


def test_what_runs_elsewhere_ends_with_its_caller(nodes: Nodes) -> None:
    nodes.run("hosts")
    caller = nodes.begin("on", "1", "1", "1", "bash", "-c", "echo $$; exec sleep 1000")
    assert caller.stdout is not None
    process = int(caller.stdout.readline())

    caller.kill()
    caller.wait()
    caller.stdout.close()

    patience = Patience(PATIENCE)
    while Path(f"/proc/{process}").exists() and "Z" not in Path(f"/proc/{process}/stat").read_text():
        assert not patience.is_over(None)


@pytest.mark.parametrize("first", [0, 1])
def test_what_runs_elsewhere_saves_when_its_caller_is_asked_to_end(nodes: Nodes, first: int) -> None:
    nodes.run("hosts")
    words, file = ("on", "1", "2", str(first)), nodes.folder / "asked"
    program = (
        f'trap "echo x >>{file}; sleep 1; echo saved; exit" TERM; echo began; while :; do sleep 0.1; done'
    )
    # As a person's script does: it ends at once, and what it has started saves.
    caller = nodes.begin(*words, "bash", "-c", f"bash -c '{program}'; echo after", SLIPWAY_GRACE="30")
    assert caller.stdout is not None
    assert [caller.stdout.readline() for _ in range(2)] == ["began\n"] * 2

    caller.terminate()

    text, _ = caller.communicate(timeout=PATIENCE)
    assert (text.split(), caller.returncode) == (["saved"] * 2, 143)
    assert file.read_text() == "x\n" * 2


def test_what_runs_on_a_node_that_is_taken_away_saves(nodes: Nodes) -> None:
    nodes.run("hosts")
    agent = next(one for one in nodes.announced() if one["node"] == "n1")
    program = 'trap "sleep 1; echo saved; exit" TERM; echo began; while :; do sleep 0.1; done'
    caller = nodes.begin("on", "1", "1", "1", "bash", "-c", f"bash -c '{program}'; :", SLIPWAY_GRACE="30")
    assert caller.stdout is not None
    assert caller.stdout.readline() == "began\n"

    os.kill(agent["pid"], signal.SIGTERM)

    assert caller.communicate(timeout=PATIENCE)[0] == "saved\n"
    assert caller.returncode == 143


def test_a_command_for_one_node_is_shell_text_as_mpirun_gives_it(nodes: Nodes) -> None:
    nodes.run("hosts")

    assert nodes.run("rsh", "n1", "echo", "$AZ_BATCH_NODE_ID;", "exit", "4").stdout == "n1\n"
    assert nodes.run("rsh", "n1", "exit", "4").returncode == 4


def test_without_the_key_nothing_is_started(nodes: Nodes) -> None:
    nodes.run("hosts")
    file = nodes.folder / "written"
    order = {"key": "wrong", "argv": ["touch", str(file)], "env": {}, "ranks": [0]}
    agent = json.loads((nodes.folder / "agents" / "n1").read_text())

    with socket.create_connection((agent["address"], agent["port"]), PATIENCE) as connection:
        connection.sendall(json.dumps(order).encode() + b"\n")
        assert connection.recv(100) == b""

    assert not file.exists()


def test_on_one_node_no_agent_is_needed(tmp_path: Path) -> None:
    alone = Nodes(tmp_path, 1)

    assert alone.run("hosts").stdout == "n0\n"
    every = alone.run("on", "1", "2", "0", "bash", "-c", 'echo "$SLIPWAY_RANK"; exit $SLIPWAY_RANK')
    assert (sorted(every.stdout.split()), every.returncode) == (["0", "1"], 1)


def test_a_command_that_is_not_there_is_said_so(nodes: Nodes) -> None:
    nodes.run("hosts")
    result = nodes.run("on", "2", "2", "0", "no-such-program")

    assert result.returncode == 127
    assert "no-such-program" in result.stderr
