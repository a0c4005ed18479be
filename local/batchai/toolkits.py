"""What each toolkit starts: pure translation of a job's toolkit block into processes on its nodes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from local.batchai.bodies import TOOLKITS
from local.batchai.layout import expand
from local.batchai.records import Fault

#: Block → the name in `toolType`.
TYPES = {
    "cntkSettings": "cntk",
    "pyTorchSettings": "pytorch",
    "tensorFlowSettings": "tensorflow",
    "caffeSettings": "caffe",
    "caffe2Settings": "caffe2",
    "chainerSettings": "chainer",
    "customToolkitSettings": "custom",
    "customMpiSettings": "custommpi",
    "horovodSettings": "horovod",
}
#: Blocks whose processCount the service fills in.
COUNTED = frozenset(name for name, shape in TOOLKITS.items() if "processCount" in shape.fields)


@dataclass(frozen=True)
class Process:
    """One process of a job: on which of its nodes, what, with which additions to the environment."""

    name: str
    node: int
    argv: tuple[str, ...]
    stdout: str = "stdout.txt"
    stderr: str = "stderr.txt"
    env: Mapping[str, str] = field(default_factory=dict)


class CannotLaunch(Exception):
    """The job cannot be started here; `fault` says why, in the job's errors."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def block_of(document: Mapping[str, Any]) -> str:
    """The name of the toolkit block of a checked document."""
    return next(name for name in TYPES if name in document)


def processes(
    document: Mapping[str, Any], envs: Sequence[Mapping[str, str]], find: Callable[[str], str | None]
) -> tuple[Process, ...]:
    """The processes of a job; `envs` are its nodes' environments, `find` looks a program up on a node.

    Raises CannotLaunch.
    """
    block = block_of(document)
    return LAUNCHES[block](document[block], int(document["nodeCount"]), envs, find)


def _custom(
    block: Mapping[str, Any],
    _nodes: int,
    _envs: Sequence[Mapping[str, str]],
    _find: Callable[[str], str | None],
) -> tuple[Process, ...]:
    """The command line, once, on the master node."""
    return (Process("main", 0, ("bash", "-c", block["commandLine"])),)


def _custom_mpi(
    block: Mapping[str, Any],
    nodes: int,
    _envs: Sequence[Mapping[str, str]],
    find: Callable[[str], str | None],
) -> tuple[Process, ...]:
    """The command line in each of processCount processes, under Open MPI."""
    mpirun = find("mpirun")
    if mpirun is None:
        raise CannotLaunch(
            Fault(
                code="MpiNotInstalled",
                message="There is no mpirun on this machine. Install Open MPI (Debian, Ubuntu: "
                "apt-get install openmpi-bin; macOS: brew install open-mpi) and run the job again",
            )
        )
    count = int(block.get("processCount", nodes))
    # Every node is this machine, so its processes need no host file and no ssh.
    options = ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(count))
    return (Process("main", 0, (mpirun, *options, "bash", "-c", block["commandLine"])),)


def _pytorch(
    block: Mapping[str, Any],
    nodes: int,
    envs: Sequence[Mapping[str, str]],
    _find: Callable[[str], str | None],
) -> tuple[Process, ...]:
    """processCount Python processes, in blocks over the nodes, that meet at a file which all see."""
    count = int(block.get("processCount", nodes))
    found = []
    for rank in range(count):
        node = rank * nodes // count
        env = envs[node]
        interpreter = expand(block.get("pythonInterpreterPath", "python"), env)
        script = expand(block["pythonScriptFilePath"], env)
        # The arguments are shell text of the job's author; the paths are not, so that they may hold blanks.
        command = f'"$0" "$1" {block.get("commandLineArgs", "")}'
        extra = {
            "AZ_BATCHAI_TASK_INDEX": str(rank),
            "AZ_BATCHAI_PYTORCH_INIT_METHOD": f"file://{env['AZ_BATCHAI_SHARED_JOB_TEMP']}/pytorch-init",
        }
        if backend := block.get("communicationBackend"):
            extra["AZ_BATCHAI_PYTORCH_BACKEND"] = backend
        argv = ("bash", "-c", command, interpreter, script)
        found.append(Process(f"rank-{rank}", node, argv, f"stdout-{rank}.txt", f"stderr-{rank}.txt", extra))
    return tuple(found)


#: The toolkits that can be launched; the others are refused when a job is created.
LAUNCHES = {
    "customToolkitSettings": _custom,
    "customMpiSettings": _custom_mpi,
    "pyTorchSettings": _pytorch,
}
