"""A job.json that `slipway run` makes for a script."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from shared.jobspec import Source, has_errors, read_envelope
from slipway.client.request.compose import Choices, compose
from slipway.client.request.diagnose import diagnosed
from slipway.client.request.secrets import variables
from slipway.failure import Failure

PREFIX = "$AZ_BATCHAI_MOUNT_ROOT/logs"
ARGUMENTS = ("--lr", "0.1", "a b", "$HOME; rm -rf /", "it's", "ü")


@pytest.mark.parametrize(
    "script",
    [
        *("train.py", "train.sh", "lib/train-2_b.py", "train it.py", "ü.py", "-x.py", "train (copy).sh"),
        *("it's $x.sh", "訓練.py", "100%.py", 'a"b.sh', "a&b;c.py"),
    ],
)
def test_a_made_job_is_one_that_runs(script: str) -> None:
    choices = Choices(2, "ubuntu:22.04", {"LEVEL": "3"}, ("--lr", "0.1"))
    document = compose(script, choices, PREFIX)
    source = Source(json.dumps(document).encode())
    assert not has_errors(diagnosed(source, Path("job.json"))), diagnosed(source, Path("job.json"))


def test_arguments_reach_the_script_as_they_are() -> None:
    python = compose("train.py", Choices(arguments=ARGUMENTS), PREFIX)["properties"]
    shell = compose("train.sh", Choices(arguments=ARGUMENTS), PREFIX)["properties"]
    assert tuple(shlex.split(python["pyTorchSettings"]["commandLineArgs"])) == ARGUMENTS
    assert tuple(shlex.split(shell["customToolkitSettings"]["commandLine"])[2:]) == ARGUMENTS


def test_another_kind_of_script_is_refused() -> None:
    with pytest.raises(Failure, match="neither a Python script nor a shell script"):
        compose("train.r", Choices(), PREFIX)


@pytest.mark.parametrize("script", ["tr$x.py", "tr\\x.py", "<x>.py"])
def test_a_script_that_no_path_of_a_job_json_finds_is_refused(script: str) -> None:
    with pytest.raises(Failure, match=r"cannot be a part of the path of a script: it has .*rename"):
        compose(script, Choices(), PREFIX)


def test_cluster_and_gpus_are_no_part_of_the_job_json() -> None:
    choices = Choices(cluster="slurm", gpus=0)
    assert compose("train.py", choices, PREFIX) == compose("train.py", Choices(), PREFIX)
    assert choices.envelope == {"cluster": "slurm", "resources": {"gpus": 0}}
    envelope, problems = read_envelope(choices.envelope, drop=True)
    assert (envelope is not None, problems) == (True, ())


def test_nothing_that_was_not_asked_for_is_in_it() -> None:
    properties = compose("train.py", Choices(), PREFIX)["properties"]
    assert set(properties) == {"nodeCount", "pyTorchSettings", "stdOutErrPathPrefix", "outputDirectories"}
    assert "commandLineArgs" not in properties["pyTorchSettings"]


@pytest.mark.parametrize("pair", ["=3", "1X=3", "A B=3"])
def test_what_is_no_variable_is_refused(pair: str) -> None:
    with pytest.raises(Failure, match="NAME=VALUE"):
        variables([pair])
