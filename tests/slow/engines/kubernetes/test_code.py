"""The code of a job on its way from the first container of a pod to its place, by both programs."""

from __future__ import annotations

import io
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from shared.core.code.record import CodeSource
from shared.engines.launch import alone
from shared.engines.node.unpack import unpack
from tests.breadth import size
from tests.doubles.archives import FOLDER, Entry, file, folder, packed
from tests.hostile_variables import FOREIGN, ours, prepare, variables
from tests.slow.engines.kubernetes.in_shell import ABSENT_SHELLS, SHELLS, NodesInShell
from tests.slow.engines.slurm.test_program import Nodes, custom

_KINDS = ("python", *SHELLS[: size(len(SHELLS), 1)])
_COMMAND = './run.sh && cat .hidden latest.csv "$SLIPWAY_CODE/data/rows.csv" && ls empty && pwd'


@pytest.fixture(params=_KINDS)
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Nodes:
    if request.param in ABSENT_SHELLS:
        pytest.skip(f"there is no {request.param} here: apt-get install {request.param}")
    if request.param == "python":
        (tmp_path / "place.sh").write_text(alone.placing())
        return Nodes(tmp_path)
    return NodesInShell(tmp_path, shell=request.param)


def _unpacked(node: Nodes, *entries: Entry, at: str = "work") -> Path:
    """What the first container leaves, and the site of a job with that code."""
    folder = node.root / "unpacked" / ("wd" if at == "work" else f"mounts/{at}")
    folder.mkdir(parents=True)
    unpack(io.BytesIO(packed(*entries)), folder)
    node.site = replace(
        node.site,
        code=CodeSource("https://acct.blob.core.windows.net/snapshots/t/0?sig=canary", "0", 1, at),
        unpacked=str(folder),
        placing=("sh", str(node.root / "place.sh")),
    )
    return folder


def test_the_job_runs_in_the_folder_and_it_goes_with_the_run(node: Nodes) -> None:
    unpacked = _unpacked(node, *FOLDER)

    code = node.run(**custom(_COMMAND), jobPreparation={"commandLine": "cat features.py"})

    *lines, place = node.output("stdout.txt").splitlines()
    assert (code, lines) == (0, ["ran", "dot", "1,2", "1,2"]), node.output("stderr.txt")
    assert node.output("stdout-job_prep.txt") == "VALUE = 1\n"
    assert place == f"{node.root}/temporary/7-0/wd"
    assert not unpacked.exists()
    assert not list((node.root / "temporary").glob("*"))


def test_folders_of_the_job_s_output_are_joined_with_it(node: Nodes) -> None:
    _unpacked(node, *FOLDER, file("out/mine", "it"), file("out/.x"), folder("out/a b"))

    command = 'cat out/mine .hidden && ls -A out && test -d "$AZ_BATCHAI_OUTPUT_M"'
    outputs = [{"id": "M", "pathPrefix": "out"}]
    code = node.run(**custom(command), outputDirectories=outputs)

    assert code == 0, node.output("stderr.txt")
    assert node.output("stdout.txt").splitlines() == ["itdot", ".x", "a b", "jobs", "mine"]


@pytest.mark.parametrize("whose", ["foreign", "ours"])
def test_what_the_job_chose_does_not_come_between_its_code_and_its_place(node: Nodes, whose: str) -> None:
    _unpacked(node, *FOLDER)
    names = {name: FOREIGN[name] for name in FOREIGN if name != "BASH_ENV"} if whose == "foreign" else ours()
    chosen = variables(names, prepare(node.root / "hostile"))
    value = next(one["value"] for one in chosen if one["name"] == "PATH") if whose == "foreign" else ""

    code = node.run(
        **custom('[ -f .hidden ] && echo "$PATH"'),
        environmentVariables=chosen,
        jobPreparation={"commandLine": "[ -f features.py ]"},
    )

    assert code == 0, node.record()
    assert value in node.output("stdout.txt")
    assert not list((node.root / "temporary").glob("*"))


@pytest.mark.parametrize("at", ["scripts/digits", "scripts"])
def test_scripts_are_below_the_mount_root(at: str, node: Nodes) -> None:
    _unpacked(node, *FOLDER, at=at)

    assert node.run(**custom(f'cat "$AZ_BATCHAI_JOB_MOUNT_ROOT/{at}/.hidden"; ls -A')) == 0
    assert node.output("stdout.txt") == "dot\n"


def test_no_code_gets_into_a_volume_of_the_job(node: Nodes) -> None:
    _unpacked(node, *FOLDER, at="scripts/digits")
    share = node.root / "share"
    share.mkdir()
    node.site = replace(node.site, links=(("scripts", str(share)),))

    assert node.run(**custom("true")) == 251

    assert "in a volume of the job" in node.record()["message"]
    assert list(share.iterdir()) == []


def test_a_job_whose_code_is_not_there_never_runs(node: Nodes) -> None:
    unpacked = _unpacked(node)
    unpacked.rmdir()

    assert node.run(**custom(f"touch {node.root}/ran")) == 250

    assert "its code could not be put at" in node.record()["message"]
    assert not (node.root / "ran").exists()


def test_pods_that_share_a_directory_put_it_there_once(tmp_path: Path) -> None:
    """As those of the tests do, which are processes of one machine."""
    (tmp_path / "place.sh").write_text(alone.placing())
    (tmp_path / "temporary/wd").mkdir(parents=True)
    (tmp_path / "unpacked").mkdir()
    unpack(io.BytesIO(packed(*FOLDER)), tmp_path / "unpacked")
    environment = {
        "PATH": os.environ["PATH"],
        "SLIPWAY_TEMP": str(tmp_path / "temporary"),
        "SLIPWAY_CODE": str(tmp_path / "temporary/wd"),
        "SLIPWAY_UNPACKED": str(tmp_path / "unpacked"),
    }

    pods = [subprocess.Popen(["sh", str(tmp_path / "place.sh")], env=environment) for _ in range(4)]

    assert [pod.wait(timeout=60) for pod in pods] == [0] * 4
    assert (tmp_path / "temporary/wd/train.py").exists()
