"""What each toolkit starts on its nodes, and with what environment."""

import json
from pathlib import Path
from typing import Any

import pytest

from local.batchai.api.rules import job_problems
from local.batchai.launch.ground import quote
from local.batchai.launch.layout import job_environment
from local.batchai.launch.toolkits import LAUNCHES, TYPES, processes
from local.batchai.state.sizes import gpus_of, size_of
from local.nodes.machine import Directories
from local.nodes.work import CannotLaunch, Process
from tests.unit.local.batchai.documents import a_job
from tests.unit.local.batchai.launch.plans import FOLDER, JOBS, goldens


def env(node: int, nodes: int) -> dict[str, str]:
    hosts = ",".join(f"10.0.0.{4 + number}" for number in range(nodes))
    return {
        "AZ_BATCHAI_SHARED_JOB_TEMP": f"/{node}/shared",
        "AZ_BATCHAI_MPI_HOST_FILE": f"/{node}/hostfile",
        "AZ_BATCH_HOST_LIST": hosts,
        "CODE": f"/{node}/code",
    }


def plan(name: str, nodes: int = 1, absent: str = "", **block: Any) -> tuple[Process, ...]:
    def find(program: str) -> str | None:
        return None if program == absent else f"/bin/{program}"

    document = {"nodeCount": nodes, f"{name}Settings": block}
    return processes(document, [env(node, nodes) for node in range(nodes)], find)


def script(**more: Any) -> dict[str, Any]:
    return {"pythonScriptFilePath": "$CODE/x.py"} | more


def cluster_of(process: Process) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(process.env["TF_CONFIG"])
    return document


def test_every_toolkit_of_a_job_file_is_launched_and_has_a_golden_plan() -> None:
    assert LAUNCHES.keys() == TYPES.keys()
    assert {block for job in JOBS.values() for block in job} == TYPES.keys()


def test_launch_plans_are_the_golden_ones() -> None:
    """If they are meant to change: python -m tests.unit.local.batchai.launch.plans."""
    assert goldens() == {file.name: file.read_text(encoding="utf-8") for file in FOLDER.iterdir()}


def test_pytorch_processes_are_spread_in_blocks_over_the_nodes() -> None:
    plans = plan("pyTorch", 2, **script(processCount=4, commandLineArgs="a; b", communicationBackend="gloo"))

    assert [process.node for process in plans] == [0, 0, 1, 1]
    assert [process.env["AZ_BATCHAI_TASK_INDEX"] for process in plans] == ["0", "1", "2", "3"]
    assert len({process.env["AZ_BATCHAI_PYTORCH_INIT_METHOD"] for process in plans}) == 1
    assert plans[3].stderr == "stderr-3.txt"
    assert plans[3].argv == ("bash", "-c", 'python "${CODE}"/x.py a; b')


def test_pytorch_with_mpi_runs_under_mpirun_with_the_same_files() -> None:
    (process,) = plan("pyTorch", 2, **script(communicationBackend="MPI"))

    assert process.argv[0] == "/bin/mpirun"
    assert "stdout-$OMPI_COMM_WORLD_RANK.txt" in process.argv[-1]
    assert process.env["AZ_BATCHAI_PYTORCH_BACKEND"] == "MPI"


def test_tensorflow_ports_count_from_2222_on_each_node_parameter_servers_first() -> None:
    plans = plan("tensorFlow", 3, **script(workerCount=3, parameterServerCount=1))

    assert [process.name for process in plans] == ["ps-0", "wk-0", "wk-1", "wk-2"]
    assert [process.node for process in plans] == [0, 0, 1, 2]
    assert [process.service for process in plans] == [True, False, False, False]
    assert {process.env["AZ_BATCHAI_PS_HOSTS"] for process in plans} == {"10.0.0.4:2222"}
    assert {process.env["AZ_BATCHAI_WORKER_HOSTS"] for process in plans} == {
        "10.0.0.4:2223,10.0.0.5:2222,10.0.0.6:2222"
    }
    assert [process.env["AZ_BATCHAI_TASK_INDEX"] for process in plans] == ["0", "0", "1", "2"]
    assert plans[2].stdout == "stdout-wk-1.txt"


def test_tensorflow_finds_its_chief() -> None:
    server, chief, *workers = plan("tensorFlow", 3, **script())

    assert cluster_of(chief) == {
        "cluster": {
            "chief": ["10.0.0.4:2223"],
            "worker": ["10.0.0.5:2222", "10.0.0.6:2222"],
            "ps": ["10.0.0.4:2222"],
        },
        "task": {"type": "chief", "index": 0},
        "environment": "cloud",
    }
    assert cluster_of(server)["task"] == {"type": "ps", "index": 0}
    assert [cluster_of(worker)["task"] for worker in workers] == [
        {"type": "worker", "index": 0},
        {"type": "worker", "index": 1},
    ]


def test_each_tensorflow_role_gets_its_own_arguments() -> None:
    arguments = {
        "masterCommandLineArgs": "M",
        "workerCommandLineArgs": "W",
        "parameterServerCommandLineArgs": "P",
    }
    plans = plan("tensorFlow", 2, **script(**arguments))

    assert [process.argv[2][-1] for process in plans] == ["P", "M", "W"]


def test_tensorflow_on_one_node_is_one_process_without_a_cluster() -> None:
    (process,) = plan("tensorFlow", **script(masterCommandLineArgs="M"))

    assert process.stdout == "stdout-wk-0.txt"
    assert process.argv[2].endswith("M")
    assert cluster_of(process)["cluster"] == {}
    assert "AZ_BATCHAI_PS_HOSTS" not in process.env


def test_more_workers_than_nodes_fill_the_nodes_in_turn() -> None:
    plans = plan("tensorFlow", 2, **script(workerCount=4, parameterServerCount=2))

    assert [process.node for process in plans] == [0, 1, 0, 0, 1, 1]
    assert (
        plans[5].env["AZ_BATCHAI_WORKER_HOSTS"] == "10.0.0.4:2223,10.0.0.4:2224,10.0.0.5:2223,10.0.0.5:2224"
    )


def test_caffe2_runs_once_on_each_node() -> None:
    plans = plan("caffe2", 2, **script())

    assert [(process.node, process.stdout) for process in plans] == [(0, "stdout-0.txt"), (1, "stdout-1.txt")]
    assert plans[1].argv[-1] == 'python "${CODE}"/x.py'
    assert plans[1].env == {"AZ_BATCHAI_TASK_INDEX": "1"}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("x.py", "x.py"),
        ("$A/b", '"${A}"/b'),
        ("${A}$B", '"${A}"$B'.replace("$B", "'$B'")),
        ("a b;$(c)`d`", "'a b;$(c)`d`'"),
        ("", "''"),
    ],
)
def test_a_word_keeps_its_known_variables_and_nothing_else_of_the_shell(text: str, word: str) -> None:
    assert quote(text, {"A": "1"}) == word


@pytest.mark.parametrize("name", ["chainer", "horovod"])
def test_mpi_toolkits_spread_their_processes_over_the_host_file(name: str) -> None:
    (process,) = plan(name, 2, **script(processCount=3))

    argv = " ".join(process.argv)
    assert "--hostfile /0/hostfile --map-by ppr:2:node:oversubscribe -n 3 bash -c" in argv
    assert process.stdout == "stdout.txt"


@pytest.mark.parametrize("name", ["chainer", "horovod", "customMpi"])
def test_mpi_jobs_need_mpirun(name: str) -> None:
    with pytest.raises(CannotLaunch, match="apt-get install openmpi-bin"):
        plan(name, absent="mpirun", **script(commandLine="x"))


def test_a_command_under_mpirun_is_shell_text() -> None:
    (process,) = plan("customMpi", processCount=2, commandLine="x; y")

    assert process.argv[0] == "/bin/mpirun"
    assert process.argv[-5:-1] == ("-n", "2", "bash", "-c")
    assert process.argv[-1].splitlines() == ['cd "$AZ_BATCHAI_JOB_TEMP/wd" || exit', "x; y"]


def test_cntk_takes_its_configuration_and_its_language_from_what_is_there() -> None:
    (brain,) = plan("cntk", configFilePath="$CODE/a b.cntk", commandLineArgs="rootDir=.")
    (python,) = plan("cntk", **script(languageType="python"))
    (two,) = plan("cntk", 2, **script())

    assert brain.argv[2] == """/bin/cntk configFile="${CODE}"'/a b.cntk' rootDir=."""
    assert python.argv[2] == 'python "${CODE}"/x.py'
    assert two.argv[0] == "/bin/mpirun"
    with pytest.raises(CannotLaunch, match="Install CNTK"):
        plan("cntk", absent="cntk", configFilePath="x")


def test_caffe_trains_its_solver_or_runs_a_script() -> None:
    (solver,) = plan("caffe", configFilePath="$CODE/s.prototxt")
    (python,) = plan("caffe", **script(processCount=1))

    assert solver.argv[2] == '/bin/caffe train --solver="${CODE}"/s.prototxt'
    assert python.argv[2] == 'python "${CODE}"/x.py'
    with pytest.raises(CannotLaunch, match="apt-get install caffe-cpu"):
        plan("caffe", absent="caffe", configFilePath="x")


@pytest.mark.parametrize(
    ("name", "block", "place"),
    [
        ("cntk", {}, "/configFilePath"),
        ("cntk", {"languageType": "R", "configFilePath": "x"}, "/languageType"),
        ("cntk", {"languageType": "Python", "configFilePath": "x"}, "/pythonScriptFilePath"),
        ("cntk", script(configFilePath="x"), "/configFilePath"),
        ("cntk", {"configFilePath": "x", "pythonInterpreterPath": "p"}, "/pythonInterpreterPath"),
        ("caffe", {}, ""),
        ("caffe", script(configFilePath="x"), ""),
        ("caffe", {"configFilePath": "x", "pythonInterpreterPath": "p"}, "/pythonInterpreterPath"),
        ("pyTorch", script(communicationBackend="nccl"), "/communicationBackend"),
        ("tensorFlow", script(parameterServerCount=3), "/parameterServerCount"),
        ("cntk", script(), None),
        ("tensorFlow", script(parameterServerCount=2, workerCount=9), None),
        ("pyTorch", script(communicationBackend="MPI"), None),
    ],
)
def test_the_rules_of_each_toolkit(name: str, block: dict[str, Any], place: str | None) -> None:
    document = {"cluster": {"id": "/c"}, "nodeCount": 2, "stdOutErrPathPrefix": "x", f"{name}Settings": block}

    problems = [problem.target for problem in job_problems(document)]

    at = f"/properties/{name}Settings"
    assert problems[:1] == ([] if place is None else [f"{at}{place}"])


def test_nodes_have_the_gpus_of_their_size_as_far_as_this_machine_has_them() -> None:
    assert size_of("Standard_NC24rs_v3").gpus == 4
    assert size_of("STANDARD_UNHEARD_OF").gpus == 0
    assert gpus_of(1, "Standard_NC6", 0) == ()
    assert [gpus_of(number, "Standard_NC6", 2) for number in (1, 2, 3)] == [(0,), (1,), (0,)]
    assert [gpus_of(number, "Standard_NC24", 8) for number in (1, 2)] == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert gpus_of(3, "Standard_NC24", 2) == (0, 1)


def test_a_job_sees_the_gpus_of_its_node_only() -> None:
    place = Directories(Path("/n"), ("w", "e", "j"))

    with_gpus = job_environment(a_job(), place, [], [], (2, 3))
    without = job_environment(a_job(), place, [], [])

    assert (with_gpus["AZ_BATCHAI_NUM_GPUS"], with_gpus["CUDA_VISIBLE_DEVICES"]) == ("2", "2,3")
    assert without["AZ_BATCHAI_NUM_GPUS"] == "0"
    assert "CUDA_VISIBLE_DEVICES" not in without
