"""`slipway init`: every template is a job that runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shared.jobspec import Source
from slipway.client.request.diagnose import diagnosed
from slipway.commands.init.init import run
from slipway.commands.init.templates import TEMPLATES
from slipway.failure import Failure


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_a_script_with_a_job_json_without_a_problem(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "digits"

    assert run(name, folder) == 0

    job_file = folder / "job.json"
    assert diagnosed(Source(job_file.read_bytes()), job_file) == ()
    settings = json.loads(job_file.read_text())["properties"][TEMPLATES[name].toolkit]
    assert settings["pythonScriptFilePath"] == "<SLIPWAY_FOLDER>/train.py"
    packages = TEMPLATES[name].packages
    assert (folder / "requirements.txt").is_file() == bool(packages)
    assert ("jobPreparation" in json.loads(job_file.read_text())["properties"]) == bool(packages)
    compile((folder / "train.py").read_text(), "train.py", "exec")
    assert f"slipway run {folder}" in capsys.readouterr().out


def test_nothing_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text("mine")
    with pytest.raises(Failure, match=r"job\.json exists already"):
        run("python", tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["job.json"]


def test_a_template_that_does_not_exist_is_refused_with_those_that_do(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="there are python, pytorch-distributed, tensorflow, horovod"):
        run("caffe", tmp_path)
