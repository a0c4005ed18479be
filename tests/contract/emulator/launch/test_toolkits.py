"""Every toolkit on emulated nodes: its processes, their files and their environment."""

import shutil
from typing import Any

import pytest

from tests.contract.emulator.conftest import Lab, autoscale, custom

needs_mpi = pytest.mark.skipif(shutil.which("mpirun") is None, reason="Open MPI is not installed")

SCRIPT = "$AZ_BATCHAI_JOB_TEMP/wd/script.py"


def prepared(script: str) -> dict[str, Any]:
    """A preparation that leaves a script on each node; the toolkit settings name it."""
    return {"jobPreparation": {"commandLine": f"cat > script.py <<'EOF'\n{script}\nEOF"}}


async def run(lab: Lab, nodes: int, **properties: Any) -> Any:
    await lab.make_cluster(autoscale(nodes))
    await lab.submit("job", nodeCount=nodes, **properties)
    return await lab.ends("job")


async def succeeded(lab: Lab, nodes: int, **properties: Any) -> Any:
    job = await run(lab, nodes, **properties)
    if job.execution_state != "succeeded":
        errors = {name: await lab.read("job", name) for name in await lab.files("job") if "std" in name}
        pytest.fail(f"{job.execution_info.errors}: {errors}")
    return job


TENSORFLOW = """
import json, os, socket, sys
env = os.environ
config = json.loads(env["TF_CONFIG"])
task, cluster = config["task"], config["cluster"]
address = cluster[task["type"]][task["index"]]
hosts = env["AZ_BATCHAI_PS_HOSTS" if sys.argv[1] == "ps" else "AZ_BATCHAI_WORKER_HOSTS"].split(",")
assert hosts[int(env["AZ_BATCHAI_TASK_INDEX"])] == address, (hosts, address)
def place(text):
    host, port = text.split(":")
    return host, int(port)
# Told before anyone can reach it: the job is over with its workers, and takes a server with it.
print(sys.argv[1:], task["type"], task["index"], flush=True)
server = socket.create_server(place(address))
if task["type"] == "ps":
    while True:
        server.accept()[0].sendall(b"parameters")
while True:
    try:
        with socket.create_connection(place(cluster["ps"][0])) as connection:
            assert connection.recv(20) == b"parameters"
        break
    except ConnectionRefusedError:
        pass
"""


async def test_tensorflow_workers_find_their_parameter_server_which_ends_with_them(lab: Lab) -> None:
    await succeeded(
        lab,
        2,
        **prepared(TENSORFLOW),
        tensorFlowSettings={
            "pythonScriptFilePath": SCRIPT,
            "masterCommandLineArgs": "master $AZ_BATCHAI_TASK_INDEX",
            "workerCommandLineArgs": "worker $AZ_BATCHAI_TASK_INDEX",
            "parameterServerCommandLineArgs": "ps $AZ_BATCHAI_TASK_INDEX",
            "parameterServerCount": 1,
            "workerCount": 2,
        },
    )

    assert await lab.read("job", "stdout-ps-0.txt") == "['ps', '0'] ps 0\n"
    assert await lab.read("job", "stdout-wk-0.txt") == "['master', '0'] chief 0\n"
    assert await lab.read("job", "stdout-wk-1.txt") == "['worker', '1'] worker 0\n"
    assert {"stderr-ps-0.txt", "stderr-wk-0.txt", "stderr-wk-1.txt"} <= (await lab.files("job")).keys()


async def test_a_parameter_server_that_fails_fails_the_job(lab: Lab) -> None:
    job = await run(
        lab,
        1,
        **prepared("import sys, time\nif sys.argv[1] == 'ps': sys.exit(9)\ntime.sleep(600)"),
        tensorFlowSettings={
            "pythonScriptFilePath": SCRIPT,
            "masterCommandLineArgs": "master",
            "parameterServerCommandLineArgs": "ps",
            "parameterServerCount": 1,
        },
    )

    assert (job.execution_state, job.execution_info.exit_code) == ("failed", 9)


async def test_caffe2_runs_on_each_node_with_a_place_to_meet(lab: Lab) -> None:
    script = (
        "import os, pathlib\n"
        "index, shared = os.environ['AZ_BATCHAI_TASK_INDEX'], os.environ['AZ_BATCHAI_SHARED_JOB_TEMP']\n"
        "pathlib.Path(shared, index).touch()\n"
        "while len(os.listdir(shared)) < 2: pass\n"
        "print(index, pathlib.Path(shared).resolve())"
    )
    await succeeded(lab, 2, **prepared(script), caffe2Settings={"pythonScriptFilePath": SCRIPT})

    first, second = [(await lab.read("job", f"stdout-{index}.txt")).split() for index in range(2)]
    assert (first[0], second[0]) == ("0", "1")
    assert first[1] == second[1]


async def test_cntk_runs_its_configuration_or_says_what_to_install(lab: Lab) -> None:
    await succeeded(
        lab, 1, cntkSettings={"configFilePath": "$AZ_BATCHAI_JOB_TEMP/a.cntk", "commandLineArgs": "rootDir=."}
    )
    output = await lab.read("job", "stdout.txt")
    await lab.submit("solver", caffeSettings={"configFilePath": "x.prototxt"})
    job = await lab.ends("solver")

    assert output.startswith("cntk configFile=/")
    assert "/a.cntk rootDir=. in " in output
    if shutil.which("caffe") is None:
        assert job.execution_info.errors[0].code == "ProgramNotInstalled"
        assert "caffe-cpu" in job.execution_info.errors[0].message


RANK = (
    "import os\n"
    "print(os.environ['OMPI_COMM_WORLD_RANK'], os.environ['OMPI_COMM_WORLD_SIZE'],"
    " os.environ['AZ_BATCHAI_JOB_TEMP'], os.getcwd())"
)


@needs_mpi
@pytest.mark.parametrize("toolkit", ["chainerSettings", "horovodSettings", "cntkSettings", "caffeSettings"])
async def test_mpi_toolkits_run_processes_on_all_nodes(lab: Lab, toolkit: str) -> None:
    await succeeded(
        lab, 2, **prepared(RANK), **{toolkit: {"pythonScriptFilePath": SCRIPT, "processCount": 3}}
    )

    lines = sorted(line.split() for line in (await lab.read("job", "stdout.txt")).splitlines())
    assert [line[:2] for line in lines] == [["0", "3"], ["1", "3"], ["2", "3"]]
    # Each in the directories of its own node.
    assert lines[0][2] == lines[1][2] != lines[2][2]
    assert all(line[3] == f"{line[2]}/wd" for line in lines)


@needs_mpi
async def test_pytorch_by_mpi_keeps_a_file_for_each_rank(lab: Lab) -> None:
    script = "import os\nprint(os.environ['AZ_BATCHAI_TASK_INDEX'], os.environ['AZ_BATCHAI_PYTORCH_BACKEND'])"
    await succeeded(
        lab,
        2,
        **prepared(script),
        pyTorchSettings={"pythonScriptFilePath": SCRIPT, "communicationBackend": "MPI", "processCount": 4},
    )

    outputs = [await lab.read("job", f"stdout-{rank}.txt") for rank in range(4)]
    assert outputs == [f"{rank} MPI\n" for rank in range(4)]


@needs_mpi
async def test_a_job_may_call_mpirun_itself_with_its_host_file(lab: Lab) -> None:
    command = (
        "mpirun -mca btl_tcp_if_exclude docker0,lo --allow-run-as-root "
        "--hostfile $AZ_BATCHAI_MPI_HOST_FILE bash -c 'echo $OMPI_COMM_WORLD_RANK $AZ_BATCHAI_MOUNT_ROOT'"
    )
    await succeeded(lab, 2, **custom(command))

    lines = sorted(line.split() for line in (await lab.read("job", "stdout.txt")).splitlines())
    assert [line[0] for line in lines] == ["0", "1"]
    assert lines[0][1] != lines[1][1]


async def test_nodes_of_a_job_log_in_to_each_other_without_a_password(lab: Lab) -> None:
    command = """
        for host in $(cat $AZ_BATCHAI_MPI_HOST_FILE); do ssh -o BatchMode=yes $host 'echo $HOME; exit 3'; done
        echo $?
    """
    await succeeded(lab, 2, **custom(command))

    first, second, code = (await lab.read("job", "stdout.txt")).split()
    assert first != second
    assert code == "3"


@needs_mpi
async def test_a_process_that_fails_under_mpirun_fails_the_job(lab: Lab) -> None:
    job = await run(lab, 2, customMpiSettings={"commandLine": "exit $OMPI_COMM_WORLD_RANK"})

    assert (job.execution_state, job.execution_info.exit_code) == ("failed", 1)
    assert job.execution_info.errors[0].code == "JobFailed"
