"""Distributed jobs as people write them: mpi4py over the mpirun there is, PyTorch by `make test-torch`."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from tests.contract.emulator.conftest import Lab, share_mount
from tests.contract.emulator.files.test_files import shares_of
from tests.contract.emulator.launch.test_toolkits import SCRIPT, needs_mpi, prepared, succeeded

_TORCH = os.environ.get("SLIPWAY_TORCH", "")

GLOO = """
import argparse, torch, torch.distributed as dist
torch.set_num_threads(1)
parser = argparse.ArgumentParser()
parser.add_argument("--rank", type=int)
parser.add_argument("--world-size", type=int)
parser.add_argument("--dist-url")
parser.add_argument("--dist-backend")
options = parser.parse_args()
dist.init_process_group(options.dist_backend, init_method=options.dist_url,
                        rank=options.rank, world_size=options.world_size)
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1, bias=False))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(options.rank)
truth = torch.tensor([[1.0, -2.0, 3.0, 0.5]])
for _ in range(200):
    seen = torch.randn(16, 4)
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(seen), seen @ truth.T).backward()
    optimizer.step()
weights = [round(weight, 2) for weight in model.module.weight.flatten().tolist()]
print(dist.get_rank(), dist.get_world_size(), *weights)
dist.destroy_process_group()
"""


@pytest.mark.skipif(not _TORCH, reason="SLIPWAY_TORCH names no python; `make test-torch` installs one")
async def test_pytorch_trains_data_parallel_with_gloo_on_two_nodes_of_two_processes(lab: Lab) -> None:
    await succeeded(
        lab,
        2,
        **prepared(GLOO),
        pyTorchSettings={
            "pythonScriptFilePath": SCRIPT,
            "pythonInterpreterPath": _TORCH,
            "commandLineArgs": "--rank $AZ_BATCHAI_TASK_INDEX --world-size 4 "
            "--dist-url $AZ_BATCHAI_PYTORCH_INIT_METHOD --dist-backend $AZ_BATCHAI_PYTORCH_BACKEND",
            "communicationBackend": "gloo",
            "processCount": 4,
        },
    )

    output = [(await lab.read("job", f"stdout-{rank}.txt")).split() for rank in range(4)]
    # Each saw data of its own, and all learnt the same.
    assert output == [[str(rank), "4", "1.0", "-2.0", "3.0", "0.5"] for rank in range(4)]


ALLREDUCE = """
import os
from mpi4py import MPI
world = MPI.COMM_WORLD
total = world.allreduce(world.Get_rank() + 1)
print(world.Get_rank(), world.Get_size(), total, os.environ["AZ_BATCHAI_JOB_TEMP"], flush=True)
"""


@needs_mpi
async def test_mpi_adds_up_over_two_nodes(lab: Lab) -> None:
    await succeeded(
        lab,
        2,
        **prepared(ALLREDUCE),
        customMpiSettings={"commandLine": f"python {SCRIPT}", "processCount": 4},
    )

    lines = sorted(line.split() for line in (await lab.read("job", "stdout.txt")).splitlines())
    assert [line[:3] for line in lines] == [[str(rank), "4", "10"] for rank in range(4)]
    places = [line[3] for line in lines]
    assert places[0] == places[1] != places[2] == places[3]


@needs_mpi
@pytest.mark.thorough
async def test_a_job_adds_up_with_an_mpirun_of_its_own(lab: Lab) -> None:
    command = f"mpirun --hostfile $AZ_BATCHAI_MPI_HOST_FILE python {SCRIPT}"
    await succeeded(lab, 2, **prepared(ALLREDUCE), customToolkitSettings={"commandLine": command})

    lines = sorted(line.split() for line in (await lab.read("job", "stdout.txt")).splitlines())
    assert [line[:3] for line in lines] == [["0", "2", "3"], ["1", "2", "3"]]
    assert lines[0][3] != lines[1][3]


#: Stands in for a Python with TensorFlow: it checks what an estimator or a replica reads of its environment.
INTERPRETER = f"""#!{sys.executable}
import json, os, sys, time
env = os.environ
script, role, index = sys.argv[1:]
assert script.endswith("/wd/script.py"), script
config = json.loads(env["TF_CONFIG"])
servers, workers = env["AZ_BATCHAI_PS_HOSTS"].split(","), env["AZ_BATCHAI_WORKER_HOSTS"].split(",")
first, second = env["AZ_BATCH_HOST_LIST"].split(",")
assert servers == [first + ":2222"], servers
assert workers == [first + ":2223", second + ":2222"], workers
assert config["cluster"] == {{"ps": servers, "chief": workers[:1], "worker": workers[1:]}}, config
assert config["environment"] == "cloud", config
assert index == env["AZ_BATCHAI_TASK_INDEX"]
tasks = {{"ps": ("ps", 0), "master": ("chief", 0), "worker": ("worker", 0)}}
assert (config["task"]["type"], config["task"]["index"]) == tasks[role], config
told = "MOUNT_ROOT JOB_TEMP JOB_TEMP_DIR SHARED_JOB_TEMP STDOUTERR_DIR MPI_HOST_FILE NUM_GPUS"
for name in told.split():
    assert env["AZ_BATCHAI_" + name], name
assert os.getcwd() == env["AZ_BATCHAI_JOB_TEMP"] + "/wd"
for folder in ("MODEL", "LOGS"):
    assert os.path.isdir(env["AZ_BATCHAI_OUTPUT_" + folder])
print(role, index, flush=True)
# The job is over when its workers are, and takes a server with it: they need one, and wait for it.
served = env["AZ_BATCHAI_SHARED_JOB_TEMP"] + "/served"
if role == "ps":
    open(served, "w").close()
    time.sleep(600)
while not os.path.exists(served):
    time.sleep(0.05)
"""


async def test_a_tensorflow_cluster_gets_what_was_documented(lab: Lab) -> None:
    job = await succeeded(
        lab,
        2,
        jobPreparation={
            "commandLine": f"cat > python-tf <<'EOF'\n{INTERPRETER}\nEOF\nchmod +x python-tf; touch script.py"
        },
        tensorFlowSettings={
            "pythonScriptFilePath": SCRIPT,
            "pythonInterpreterPath": "$AZ_BATCHAI_JOB_TEMP/wd/python-tf",
            "masterCommandLineArgs": "master $AZ_BATCHAI_TASK_INDEX",
            "workerCommandLineArgs": "worker $AZ_BATCHAI_TASK_INDEX",
            "parameterServerCommandLineArgs": "ps $AZ_BATCHAI_TASK_INDEX",
            "parameterServerCount": 1,
            "workerCount": 2,
        },
        outputDirectories=[
            {"id": name, "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/out"} for name in ("MODEL", "LOGS")
        ],
    )

    output = [await lab.read("job", f"stdout-{name}.txt") for name in ("ps-0", "wk-0", "wk-1")]
    assert output == ["ps 0\n", "master 0\n", "worker 1\n"]
    assert job.tool_type == "tensorflow"


#: The job file of the Chainer recipe in its main points: shares, an image, a directory of models.
CHAINER: dict[str, Any] = {
    "chainerSettings": {
        "pythonScriptFilePath": "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/chainer/train_mnist.py",
        "commandLineArgs": "-g -o $AZ_BATCHAI_OUTPUT_MODEL",
    },
    "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs",
    "outputDirectories": [{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs"}],
    "containerSettings": {"imageSourceRegistry": {"image": "batchaitraining/chainermn:openMPI"}},
}
TRAIN = """
import os, sys
assert sys.argv[1:3] == ["-g", "-o"], sys.argv
rank = os.environ["OMPI_COMM_WORLD_RANK"]
with open(os.path.join(sys.argv[3], "model-" + rank), "w") as model:
    model.write("weights")
print("rank", rank, "of", os.environ["OMPI_COMM_WORLD_SIZE"], flush=True)
"""


@needs_mpi
async def test_the_chainer_recipe_runs_with_its_image_ignored(lab: Lab) -> None:
    async with shares_of(lab) as service:
        await service.create_share("chainer-logs")
        scripts = await service.create_share("chainer-scripts")
        folder = await scripts.create_directory("chainer")
        await folder.upload_file("train_mnist.py", TRAIN.encode())
    mounts = [share_mount(f"chainer-{name}", name) for name in ("logs", "scripts")]

    await succeeded(lab, 2, **CHAINER, mountVolumes={"azureFileShares": mounts})

    assert sorted((await lab.read("job", "stdout.txt")).splitlines()) == ["rank 0 of 2", "rank 1 of 2"]
    assert {"model-0", "model-1"} == (await lab.files("job", "MODEL")).keys()
    journals = [name for name in await lab.files("job") if name.startswith("execution-")]
    assert len(journals) == 2
    for name in journals:
        assert "batchaitraining/chainermn:openMPI is not used" in await lab.read("job", name)
