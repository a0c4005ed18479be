"""The golden launch plans: what a job of each toolkit starts on two nodes, and the environment there.

`python -m tests.unit.local.batchai.launch.plans` writes them anew; look at the changes before a commit.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from local.batchai.launch.layout import job_environment
from local.batchai.launch.toolkits import processes
from local.batchai.state import ids
from local.batchai.state.models import Job
from local.nodes.machine import Machine

FOLDER = Path(__file__).resolve().parents[4] / "golden" / "launch"
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_SCRIPT = {
    "pythonScriptFilePath": "$AZ_BATCHAI_INPUT_CODE/train.py",
    "commandLineArgs": "--out $AZ_BATCHAI_OUTPUT_MODEL",
}
_PYTHON_3 = _SCRIPT | {"pythonInterpreterPath": "/usr/bin/python3"}

#: Name of the golden file → the toolkit's block. All run on two nodes with two GPUs each.
JOBS: dict[str, dict[str, Any]] = {
    "caffe": {
        "caffeSettings": {"configFilePath": "$AZ_BATCHAI_INPUT_CODE/solver.prototxt", "processCount": 4}
    },
    "caffe2": {"caffe2Settings": _SCRIPT},
    "chainer": {"chainerSettings": _PYTHON_3 | {"processCount": 4}},
    "cntk": {"cntkSettings": _SCRIPT | {"languageType": "Python", "processCount": 4}},
    "cntk-brainscript": {
        "cntkSettings": {
            "languageType": "BrainScript",
            "configFilePath": "$AZ_BATCHAI_INPUT_CODE/net.cntk",
            "commandLineArgs": "parallelTrain=true",
        }
    },
    "customMpi": {"customMpiSettings": {"commandLine": "cd /tmp && ./train --all", "processCount": 4}},
    "customToolkit": {"customToolkitSettings": {"commandLine": "source env.sh; ./train | tee log"}},
    "horovod": {"horovodSettings": _SCRIPT | {"processCount": 4}},
    "pyTorch": {"pyTorchSettings": _SCRIPT | {"processCount": 4, "communicationBackend": "gloo"}},
    "pyTorch-mpi": {"pyTorchSettings": _SCRIPT | {"processCount": 4, "communicationBackend": "MPI"}},
    "tensorFlow": {
        "tensorFlowSettings": {
            "pythonScriptFilePath": "$AZ_BATCHAI_INPUT_CODE/train.py",
            "masterCommandLineArgs": "--chief",
            "workerCommandLineArgs": "--worker",
            "parameterServerCommandLineArgs": "--server",
            "workerCount": 4,
            "parameterServerCount": 2,
        }
    },
}


def goldens() -> dict[str, str]:
    """Each golden file with its text as it should be now."""
    nodes = [Machine("node-1", 1, (0, 1)), Machine("node-2", 2, (2, 3))]
    envs = {node.address: _environment(nodes, node) for node in nodes}
    plans: dict[str, Any] = {name: _plan(block, list(envs.values())) for name, block in JOBS.items()}
    goldens = {"environment": envs, **plans}
    return {f"{name}.json": json.dumps(plan, indent=2) + "\n" for name, plan in goldens.items()}


def _environment(nodes: list[Machine], node: Machine) -> dict[str, str]:
    job = _job({})
    place = node.directories(Path("/data"), ids.names_in(job.id)[2:])
    return job_environment(job, place, nodes, [Path("/venv/bin")], node.gpus)


def _plan(block: dict[str, Any], envs: list[dict[str, str]]) -> dict[str, Any]:
    result = processes(_job(block).document, envs, lambda program: f"/usr/bin/{program}")
    return {
        "job": block,
        "processes": [
            {
                "name": process.name,
                "node": process.node,
                "argv": [word.splitlines() if "\n" in word else word for word in process.argv],
                "env": process.env,
                "stdout": process.stdout,
                "stderr": process.stderr,
                "service": process.service,
            }
            for process in result
        ],
    }


def _job(block: dict[str, Any]) -> Job:
    document = {
        "nodeCount": 2,
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        "inputDirectories": [{"id": "CODE", "path": "$AZ_BATCHAI_MOUNT_ROOT/code"}],
        "outputDirectories": [
            {"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs", "pathSuffix": "model"}
        ],
        "environmentVariables": [{"name": "EPOCHS", "value": "3"}],
        **block,
    }
    workspace = "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w"
    return Job(
        id=f"{workspace}/experiments/e/jobs/j",
        sequence=1,
        created=_NOW,
        since=_NOW,
        document=document,
        cluster=f"{workspace}/clusters/c",
        instance="instance",
        wall_clock=60.0,
    )


if __name__ == "__main__":
    for file, text in goldens().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
