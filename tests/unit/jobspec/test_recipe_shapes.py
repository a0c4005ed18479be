"""Job files as the official recipes and their history have them: what is reported of each, and what first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.diagnosis import problems_of

_CLUSTER, _JOB = "$AZ_BATCHAI_MOUNT_ROOT/external", "$AZ_BATCHAI_JOB_MOUNT_ROOT"
_SHARES = {
    "azureFileShares": [
        {"azureFileUrl": f"https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/{name}",
         "relativeMountPath": name}
        for name in ("logs", "scripts")
    ]
}  # fmt: skip
_ARGUMENTS = "--data $AZ_BATCHAI_INPUT_DATASET --task $AZ_BATCHAI_TASK_INDEX"


def _old(**changes: Any) -> dict[str, Any]:
    """As those of 2017 are: everything is on a mount of the cluster."""
    return {
        "nodeCount": 2,
        "stdOutErrPathPrefix": _CLUSTER,
        "inputDirectories": [{"id": "SCRIPT", "path": f"{_CLUSTER}/scripts"}],
        "outputDirectories": [{"id": "MODEL", "pathPrefix": _CLUSTER, "pathSuffix": "Models"}],
        "containerSettings": {"imageSourceRegistry": {"image": "microsoft/cntk:2.1-gpu-python3.5"}},
        "cntkSettings": {"pythonScriptFilePath": "$AZ_BATCHAI_INPUT_SCRIPT/train.py"},
        **changes,
    }


def _new(**changes: Any) -> dict[str, Any]:
    """As those of 2018 are: the job mounts its shares."""
    return {
        "nodeCount": 2,
        "stdOutErrPathPrefix": f"{_JOB}/logs",
        "mountVolumes": _SHARES,
        "outputDirectories": [{"id": "MODEL", "pathPrefix": f"{_JOB}/logs"}],
        "containerSettings": {"imageSourceRegistry": {"image": "tensorflow/tensorflow:1.8.0-gpu"}},
        "jobPreparation": {"commandLine": "apt update; apt install mpi-default-bin -y; pip install horovod"},
        **changes,
    }


def _horovod(**changes: Any) -> dict[str, Any]:
    return _new(horovodSettings={"pythonScriptFilePath": f"{_JOB}/scripts/horovod/mnist.py"}, **changes)


_SCRIPT = "$AZ_BATCHAI_INPUT_SCRIPT/train.py"
_OUTPUT_DIRECTORIES = [{"id": "MODEL", "pathPrefix": _CLUSTER}]
SHAPES: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "a script on mounts of the job": (_horovod(), []),
    "a mount of the cluster, in four places": (_old(), [("SW034", "/stdOutErrPathPrefix")]),
    "results on a mount of the cluster": (
        _horovod(outputDirectories=_OUTPUT_DIRECTORIES),
        [("SW034", "/outputDirectories/0/pathPrefix")],
    ),
    "four processes a node under MPI": (
        _new(cntkSettings={"pythonScriptFilePath": f"{_JOB}/scripts/a.py", "processCount": 8}),
        [],
    ),
    "an input directory that is not there": (
        _new(
            tensorFlowSettings={
                "pythonScriptFilePath": f"{_JOB}/scripts/replica.py",
                "masterCommandLineArgs": _ARGUMENTS,
                "workerCommandLineArgs": _ARGUMENTS,
                "parameterServerCommandLineArgs": "--task $AZ_BATCHAI_TASK_INDEX",
                "workerCount": 2,
                "parameterServerCount": 1,
            }
        ),
        [
            ("SW044", "/tensorFlowSettings/masterCommandLineArgs"),
            ("SW044", "/tensorFlowSettings/workerCommandLineArgs"),
        ],
    ),
    "no container, and a variable before the command": (
        {
            "nodeCount": 1,
            "customToolkitSettings": {"commandLine": f"KERAS_BACKEND=cntk python {_SCRIPT}"},
            "stdOutErrPathPrefix": _CLUSTER,
            "inputDirectories": [{"id": "SCRIPT", "path": f"{_CLUSTER}/keras"}],
        },
        [("SW034", "/stdOutErrPathPrefix")],
    ),
    "an older spelling": (
        _old(cntkSettings={"pythonScriptFilePath": _SCRIPT, "process_count": 2}),
        [("SW012", "/cntkSettings/process_count"), ("SW034", "/stdOutErrPathPrefix")],
    ),
    "an older API": (
        _old(
            location="eastus",
            outputDirectories=[{"id": "MODEL", "pathPrefix": _CLUSTER, "type": "model"}],
        ),
        [
            ("SW012", "/outputDirectories/0/type"),
            ("SW012", "/location"),
            ("SW034", "/stdOutErrPathPrefix"),
        ],
    ),
}


def _problems(text: str) -> list[tuple[str, str]]:
    problems = problems_of(text.encode(), Path("/nowhere/digits/job.json"))
    return [(one.code, one.pointer.removeprefix("/properties")) for one in problems]


@pytest.mark.parametrize("name", SHAPES)
def test_a_job_like_those_of_the_recipes_shows_first_what_matters(name: str) -> None:
    properties, expected = SHAPES[name]

    assert _problems(json.dumps({"properties": properties}, indent=4)) == expected


def test_a_comma_too_many_comes_before_what_is_not_known() -> None:
    text = json.dumps({"properties": _old()}).replace('train.py"}', 'train.py",}')

    assert _problems(text) == [("SW003", ""), ("SW034", "/stdOutErrPathPrefix")]
