"""A job may put links, pipes and directories where the program of the nodes writes: it is not held up."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from shared.engines.launch.shells import SETUP
from shared.engines.node.files import Displaced, open_end
from shared.engines.node.store import Directory
from tests.slow.engines.slurm.test_program import Nodes, custom

WAYS = {
    "pipe": "mkfifo {}",
    "pipe with a reader": "mkfifo {0}; (exec 3<>{0}; sleep 20) >/dev/null 2>&1 &",
    "link": "ln -s $AZ_BATCHAI_STDOUTERR_DIR/other {}",
    "directory": "mkdir {}",
}


def displaced(way: str, name: str) -> str:
    file = f"$AZ_BATCHAI_STDOUTERR_DIR/{name}"
    return f"rm -f {file}; " + WAYS[way].format(file)


def prepared(text: str) -> dict[str, Any]:
    return {"jobPreparation": {"commandLine": text}}


@pytest.mark.parametrize("way", WAYS)
def test_usage_that_cannot_be_written_costs_the_job_nothing(tmp_path: Path, way: str) -> None:
    node = Nodes(tmp_path)

    assert node.run(**custom("echo main; sleep 0.5"), **prepared(displaced(way, "usage.jsonl"))) == 0

    assert node.output("stdout.txt") == "main\n"
    assert not list(tmp_path.rglob("other"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["stdout.txt", "stderr.txt"])
def test_a_job_whose_output_cannot_be_written_fails_and_says_why(tmp_path: Path, way: str, name: str) -> None:
    node = Nodes(tmp_path)

    assert node.run(**custom("echo main; echo main >&2"), **prepared(displaced(way, name))) == 126

    record = node.record()
    assert (record["reason"], record["exitCode"], record["final"]) == ("user", 126, True)
    assert f"{name} cannot be written" in record["message"]
    assert not list(tmp_path.rglob("other"))


@pytest.mark.parametrize("way", WAYS)
def test_a_log_that_cannot_be_written_costs_the_job_nothing(tmp_path: Path, way: str) -> None:
    node = Nodes(tmp_path)

    assert node.run(**custom(displaced(way, "execution.log"))) == 0

    assert node.record()["state"] == "ended"
    assert not list(tmp_path.rglob("other"))


def test_records_are_read_and_written_past_what_stands_in_their_place(tmp_path: Path) -> None:
    store, record, other = Directory(tmp_path), tmp_path / "claim.json", tmp_path / "other"
    os.mkfifo(record)
    assert store.read("claim.json") == {}

    store.write("claim.json", {"run": "1"})
    assert store.read("claim.json") == {"run": "1"}

    new = tmp_path / f"claim.json.{os.uname().nodename}.{os.getpid()}"
    os.mkfifo(new)
    with pytest.raises(Displaced):
        store.write("claim.json", {"run": "2"})
    new.unlink()
    new.symlink_to(other)
    with pytest.raises(Displaced):
        store.write("claim.json", {"run": "2"})
    assert not other.exists()


def test_a_file_is_added_to_and_one_that_is_missing_made(tmp_path: Path) -> None:
    for text in (b"a", b"b"):
        with open_end(tmp_path / "file") as file:
            file.write(text)
    assert (tmp_path / "file").read_bytes() == b"ab"


def test_no_pipe_that_an_earlier_job_left_holds_up_a_node(tmp_path: Path) -> None:
    (tmp_path / "temporary/earlier").mkdir(parents=True)
    os.mkfifo(tmp_path / "temporary/earlier/1-0.until")
    temporary = tmp_path / "temporary/now/2-0"
    env = {"SLIPWAY_TEMP": str(temporary), "SLIPWAY_WORK": f"{temporary}/wd"}
    more = {"SLIPWAY_UNTIL": "2", "SLIPWAY_OVER": "1", "SLIPWAY_LINKS": ""}
    mounts = {"AZ_BATCHAI_JOB_MOUNT_ROOT": f"{temporary}/mounts", "PATH": os.environ["PATH"]}

    subprocess.run(["bash", "-c", SETUP], env=env | more | mounts, check=True, timeout=20)

    assert (temporary / "wd").is_dir()
