"""`slipway run --sweep`: the parameters, and the message that has them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from slipway.client.request.compose import Choices
from slipway.client.request.request import Options, request_of
from slipway.commands.run.parameters import parameters as parameters_of
from slipway.failure import Failure

PREFIX = "$AZ_BATCHAI_MOUNT_ROOT/logs"


def swept(*parameters: str, parallel: int | None = None) -> Options:
    choices = Choices(arguments=("--lr", "{lr}"))
    return Options(choices, sweep=parameters_of(parameters), parallel=parallel)


def test_a_sweep_has_a_value_for_each_job(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()

    message = request_of(tmp_path, swept("lr=0.1,3", "how=fast,true,1e-3", parallel=2), PREFIX).message

    assert message["sweep"] == {"lr": [0.1, 3], "how": ["fast", "true", "1e-3"]}
    assert message["parallel"] == 2
    assert message["spec"]["properties"]["pyTorchSettings"]["commandLineArgs"] == "--lr '{lr}'"


@pytest.mark.parametrize("parameters", [("lr",), ("=1",), ("lr=",)])
def test_a_parameter_without_values_is_refused(parameters: Sequence[str]) -> None:
    with pytest.raises(Failure, match=r"write NAME=VALUE,VALUE"):
        swept(*parameters)


def test_a_parameter_that_is_named_twice_is_refused() -> None:
    with pytest.raises(Failure, match=r"--sweep names lr twice; write all its values in one, such as lr=1,2"):
        swept("lr=1", "b=1", "lr=2")


def test_a_chosen_name_replaces_that_of_the_documents(tmp_path: Path) -> None:
    (tmp_path / "run.sh").touch()
    properties = {"nodeCount": 1, "customToolkitSettings": {"commandLine": "bash run.sh"}}
    (tmp_path / "job.json").write_text(json.dumps({"name": "written", "spec": {"properties": properties}}))

    chosen, written = (request_of(tmp_path, Options(Choices(), name), PREFIX) for name in ("mine", ""))

    assert (chosen.message["name"], written.message["name"]) == ("mine", "written")


def test_a_number_of_jobs_at_once_belongs_to_a_sweep(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()

    with pytest.raises(Failure, match="--parallel belongs to --sweep"):
        request_of(tmp_path, swept(parallel=2), PREFIX)
