"""How busy nodes are, as the program of the nodes says it, and that no job suffers from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from shared.engines.launch.shells import USAGE
from shared.engines.node.processes import run_all
from tests.slow.engines.slurm.test_program import Nodes, custom

#: The shell text, with another patience than that of real nodes.
QUICK = USAGE.replace("{RANK}", "RANK").replace("every=15", "every=0.05")
#: A job that goes on until every node has said how busy it is.
BOTH = """timeout 30 bash -c 'for rank in 0 1; do
  until grep -qs "rank.: $rank,.*memory" $AZ_BATCHAI_STDOUTERR_DIR/usage.jsonl; do sleep 0.05; done
done'"""


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def samples(file: Path) -> list[dict[str, Any]]:
    """The whole lines of a file."""
    text = file.read_text() if file.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


@contextmanager
def sampling(file: Path, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """The shell text, writing into the file meanwhile."""
    with file.open("wb") as out:
        process = subprocess.Popen(
            ["bash", "-c", QUICK], stdout=out, env={"PATH": os.environ["PATH"], **env}, start_new_session=True
        )
    try:
        yield process
    finally:
        os.killpg(process.pid, 15)
        process.wait(30)


def test_every_node_of_a_job_says_how_busy_it_is(tmp_path: Path) -> None:
    two = Nodes(tmp_path, nodes=2)

    assert two.run(**custom(BOTH)) == 0

    document = [json.loads(line) for line in two.output("usage.jsonl").splitlines()]
    assert {sample["rank"] for sample in document} == {0, 1}
    assert two.output("stdout.txt") == two.output("stderr.txt") == ""
    assert "usage" not in two.output("execution-node0.log")


def test_a_job_whose_nodes_cannot_say_it_runs_all_the_same(tmp_path: Path) -> None:
    node = Nodes(tmp_path)
    times = 'mkdir "$AZ_BATCHAI_STDOUTERR_DIR/usage.jsonl"'

    assert node.run(**custom("echo main"), jobPreparation={"commandLine": times}) == 0

    assert node.output("stdout.txt") == "main\n"


@pytest.mark.parametrize("beside", ["exit 3", "kill -9 $$", "sleep 60"])
def test_what_runs_beside_a_job_neither_ends_it_nor_outlives_it(tmp_path: Path, beside: str) -> None:
    def step(text: str, *, service: bool) -> dict[str, Any]:
        return {
            "argv": ["bash", "-c", text],
            "files": ["out", "err"],
            "environment": [],
            "literal": {},
            "service": service,
            "isFar": False,
        }

    other = step(f"echo $$ >{tmp_path}/pid; {beside}", service=True)
    main = step(f"until [ -s {tmp_path}/pid ]; do sleep 0.02; done; sleep 0.3; echo main", service=False)
    run_all([main], [other], dict(os.environ), tmp_path, lambda: None)

    assert (tmp_path / "out").read_text() == "main\n"
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_no_variable_of_the_job_makes_a_program_of_ours_run_its_code(tmp_path: Path) -> None:
    """It has an input that no process of the job gets, and starts outside its container."""
    (tmp_path / "evil.sh").write_text(f"cat >{tmp_path}/stolen")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/bash").write_text(f"#!/bin/sh\ncat >{tmp_path}/stolen")
    (tmp_path / "bin/bash").chmod(0o700)
    chosen = {"BASH_ENV": f"{tmp_path}/evil.sh", "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    keep: dict[str, Any] = {
        "argv": ["bash", "-c", "cat"],
        "files": ["out", "err"],
        "environment": [],
        "literal": {},
        "service": False,
        "isFar": False,
        "input": "a signature",
    }

    run_all([keep], [], dict(os.environ), tmp_path, lambda: None, chosen)

    assert (tmp_path / "out").read_text() == "a signature"
    assert not (tmp_path / "stolen").exists()


def test_a_sample_has_time_memory_and_from_the_second_one_on_the_processors(tmp_path: Path) -> None:
    file = tmp_path / "usage.jsonl"
    with sampling(file, RANK="7"):
        until(lambda: len(samples(file)) > 2)

    first, *later = samples(file)
    assert first.keys() == {"rank", "time", "memory_mib"}
    assert (first["rank"], abs(first["time"] - time.time()) < 60) == (7, True)
    assert all(0 <= sample["cpu_percent"] <= 100 for sample in later)


def test_gpus_are_as_nvml_has_them_and_what_it_does_not_say_is_left_out(tmp_path: Path) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(
        '#!/bin/sh\necho "0, 35, 1024"\necho "1, [N/A], 5"\necho "Failed to initialize NVML: x"\nexit 9\n'
    )
    program.chmod(0o755)
    file = tmp_path / "usage.jsonl"
    with sampling(file, PATH=f"{tmp_path}:{os.environ['PATH']}"):
        until(lambda: len(samples(file)) > 0)

    (sample, *_) = samples(file)
    gpus = {name: value for name, value in sample.items() if name.startswith("gpu")}
    assert gpus == {"gpu0_percent": 35, "gpu0_memory_mib": 1024, "gpu1_memory_mib": 5}


def test_a_full_disk_is_waited_out(tmp_path: Path) -> None:
    with sampling(Path("/dev/full")) as process:
        time.sleep(0.5)
        assert process.poll() is None


def test_it_ends_when_its_parent_has_died(tmp_path: Path) -> None:
    file = tmp_path / "usage.jsonl"
    parent = (
        "import os, subprocess, sys, time\n"
        f"with open({str(file)!r}, 'wb') as out:\n"
        "    print(subprocess.Popen(['bash', '-c', sys.argv[1]], stdout=out, start_new_session=True).pid)\n"
        "sys.stdout.flush()\n"
        # Before its first sample it may not know yet whose child it is.
        f"while not os.path.getsize({str(file)!r}):\n"
        "    time.sleep(0.02)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    died = subprocess.run([sys.executable, "-c", parent, QUICK], stdout=subprocess.PIPE, check=False)

    until(lambda: not Path(f"/proc/{int(died.stdout)}/stat").exists() or _is_zombie(int(died.stdout)))


def _is_zombie(pid: int) -> bool:
    """Where nothing reaps the children of the dead, as in a bare container."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except FileNotFoundError:
        return True


def test_a_sample_for_a_parent_that_ended_before_it_began_is_the_last(tmp_path: Path) -> None:
    parent = subprocess.Popen(["true"])
    parent.wait(30)

    result = subprocess.run(
        ["bash", "-c", QUICK, "usage", str(parent.pid)],
        env={"PATH": os.environ["PATH"]},
        timeout=30,
        check=True,
    )

    assert result.returncode == 0


def test_samples_end_where_there_is_no_sleep(tmp_path: Path) -> None:
    (tmp_path / "date").symlink_to("/bin/date")

    result = subprocess.run(
        ["/bin/bash", "-c", QUICK], env={"PATH": str(tmp_path)}, timeout=30, capture_output=True, check=False
    )

    assert result.stdout.count(b"\n") == 1
