"""Links of a folder are scripts, and lists of packages, as the files that they lead to are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slipway.client.request.compose import Choices
from slipway.client.request.request import Options, request_of

PREFIX = "$AZ_BATCHAI_MOUNT_ROOT/logs"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/fit.py").touch()
    (tmp_path / "src/needs.txt").touch()
    (tmp_path / "train.py").symlink_to("src/fit.py")
    (tmp_path / "requirements.txt").symlink_to("src/needs.txt")
    return tmp_path


@pytest.mark.parametrize("script", ["", "train.py"])
def test_a_link_is_the_script_and_the_list_of_packages(folder: Path, script: str) -> None:
    properties = request_of(folder, Options(Choices(), script=script), PREFIX).message["spec"]["properties"]

    assert properties["pyTorchSettings"]["pythonScriptFilePath"] == "train.py"
    assert "./requirements.txt" in properties["jobPreparation"]["commandLine"]


def test_a_link_fits_the_pattern_of_a_template(folder: Path) -> None:
    settings = {"pythonScriptFilePath": "<SLIPWAY_SCRIPT:train*.py>"}
    job = {"properties": {"nodeCount": 1, "pyTorchSettings": settings}}
    (folder / "job.json").write_text(json.dumps(job))

    properties = request_of(folder, Options(Choices()), PREFIX).message["spec"]["properties"]

    assert properties["pyTorchSettings"]["pythonScriptFilePath"] == "train.py"
