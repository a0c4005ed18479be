"""The first process of a pod, for real: shell that starts the program of the nodes, or stays as a rank."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from shared.engines.kubernetes.job.start import SCRIPT

#: Stand for the programs: what they see is what they were started with.
_PROGRAM = (
    "import os; print('program', os.environ['AZ_BATCH_NODE_ID'], os.environ['SLIPWAY_PLAN'], flush=True)"
)
_SPREAD = "import os, sys; print('agent', *sys.argv[1:], 'SLIPWAY_PLAN' in os.environ, file=sys.stderr)"
#: An agent that saves for a second when it is asked to end.
_AGENT = """\
import os, pathlib, signal, sys, time
def save(*_):
    time.sleep(1)
    pathlib.Path("saved").write_text("all")
    os._exit(0)
signal.signal(signal.SIGTERM, save)
if process := os.fork():
    sys.exit(print(process))
os.close(1)
print("ready", file=sys.stderr, flush=True)
time.sleep(600)
"""


_SHOWN = "import os, sys; print(open(f'/proc/{{os.{whose}()}}/environ').read(), file=sys.stderr)"
_ALONE = 'echo "alone ${SLIPWAY_LACKING-}"; exit 5'


def pod(folder: Path, index: int, nodes: int, agent: str = _SPREAD, **more: str) -> subprocess.Popen[str]:
    (folder / "run.py").write_text(_PROGRAM)
    (folder / "alone.sh").write_text(_ALONE)
    (folder / "spread.py").write_text(agent)
    (folder / "start.sh").write_text(SCRIPT)
    environment = {
        "PATH": os.environ["PATH"],
        "HOSTNAME": f"a-{index}",
        "JOB_COMPLETION_INDEX": str(index),
        "SLIPWAY_HOME": str(folder),
        "SLIPWAY_PROGRAMS": str(folder),
        "SLIPWAY_NODES": str(nodes),
        "SLIPWAY_PLAN": "canary",
        **more,
    }
    command = ["/bin/sh", str(folder / "start.sh")]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


@pytest.mark.parametrize(("nodes", "lines"), [(1, []), (2, ["agent serve False"])])
def test_the_first_rank_becomes_the_program(tmp_path: Path, nodes: int, lines: list[str]) -> None:
    text, errors = pod(tmp_path, 0, nodes).communicate(timeout=30)

    assert (errors.splitlines(), text.splitlines()) == (lines, ["program a-0 canary"])


def test_one_command_on_one_node_needs_no_python(tmp_path: Path) -> None:
    process = pod(tmp_path, 0, 1, SLIPWAY_PLAN="", PATH="/no/such")

    assert (process.communicate(timeout=30)[0], process.returncode) == ("alone \n", 5)


def test_an_image_without_python_says_so_where_a_job_needs_it(tmp_path: Path) -> None:
    out, errors = pod(tmp_path, 0, 2, PATH="/no/such").communicate(timeout=30)

    assert "There is no python3 in the image: jobs on several nodes, and toolkits, need" in errors
    assert out == f"alone {errors.strip()}\n"


def test_another_rank_of_such_an_image_lets_the_first_say_it(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/sleep").symlink_to("/bin/sleep")
    process = pod(tmp_path, 1, 2, PATH=str(tmp_path / "bin"))
    assert process.stderr is not None
    try:
        assert "There is no python3" in process.stderr.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_another_rank_stays_until_it_is_sent_away_which_is_no_success(tmp_path: Path) -> None:
    process = pod(tmp_path, 1, 2)
    assert process.stderr is not None
    try:
        assert process.stderr.readline() == "agent serve False\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        process.terminate()
        assert process.wait(timeout=30) in (143, -signal.SIGTERM)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_another_rank_that_is_sent_away_lets_what_runs_there_save(tmp_path: Path) -> None:
    process = pod(tmp_path, 1, 2, agent=_AGENT)
    assert process.stderr is not None
    try:
        assert process.stderr.readline() == "ready\n"
        process.terminate()
        assert process.wait(timeout=30) == 143
        assert (tmp_path / "saved").read_text() == "all"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize(
    ("index", "nodes", "plan", "shows"),
    [(0, 1, "", "alone"), (0, 1, "canary", "run"), (0, 2, "canary", "run"), (1, 2, "canary", "first")],
)
def test_no_process_of_a_pod_shows_the_keys_of_its_attempts(
    tmp_path: Path, index: int, nodes: int, plan: str, shows: str
) -> None:
    """The program in shell gets them by an open file, the one in Python by its plan, other ranks never."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "alone.sh").write_text("cat /proc/$$/environ; cat <&9 >held")
    (programs / "run.py").write_text("print(open('/proc/self/environ').read())")
    whose = "getppid" if shows == "first" else "getpid"
    (programs / "spread.py").write_text(_SHOWN.format(whose=whose))
    more = {"SLIPWAY_PROGRAMS": str(programs), "SLIPWAY_PROOFS": "t.1 the-key"}

    process = pod(tmp_path, index, nodes, SLIPWAY_PLAN=plan, **more)
    assert process.stderr is not None
    shown = process.stderr.readline() if shows == "first" else process.communicate(timeout=30)[0]
    os.killpg(process.pid, signal.SIGKILL) if shows == "first" else None
    process.communicate()

    assert f"SLIPWAY_NODES={nodes}" in shown
    assert "the-key" not in shown
    assert plan == "canary" or (tmp_path / "held").read_text() == "t.1 the-key\n"
