"""A pure translation of a job's toolkit block into processes on its nodes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from local.batchai.launch import tensorflow
from local.batchai.launch.ground import Ground
from local.batchai.launch.mpi import under_mpirun
from local.nodes.work import Find, Process

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
#: Programs that toolkits look for on the machines.
PROGRAMS = ("mpirun", "cntk", "caffe")


def block_of(document: Mapping[str, Any]) -> str:
    """The name of the toolkit block of a checked document."""
    return next(name for name in TYPES if name in document)


def processes(
    document: Mapping[str, Any], envs: Sequence[Mapping[str, str]], find: Find
) -> tuple[Process, ...]:
    """The processes of a job; `envs` are its nodes' environments, `find` looks a program up on a node.

    Raises CannotLaunch.
    """
    block = block_of(document)
    return LAUNCHES[block](Ground(document[block], envs, find))


def uses_python(cntk: Mapping[str, Any]) -> bool:
    """Whether a CNTK job runs a script, not a BrainScript configuration; the language may be left out."""
    language = str(cntk.get("languageType", "")).lower()
    return language == "python" or (not language and "pythonScriptFilePath" in cntk)


def _custom(ground: Ground) -> tuple[Process, ...]:
    """The command line, once, on the master node."""
    return (_main(ground.block["commandLine"]),)


def _custom_mpi(ground: Ground) -> tuple[Process, ...]:
    """The command line in each of processCount processes."""
    return (_mpi(ground, ground.block["commandLine"]),)


def _mpi_script(ground: Ground) -> tuple[Process, ...]:
    """The Python script in each of processCount processes: Chainer and Horovod."""
    return (_mpi(ground, ground.script()),)


def _cntk(ground: Ground) -> tuple[Process, ...]:
    """The script, or `cntk` with the configuration."""
    if uses_python(ground.block):
        return _once_or_mpi(ground, ground.script())
    cntk = ground.program("cntk", "Install CNTK 2 (or put a program cntk on the PATH of the nodes)")
    return _once_or_mpi(ground, ground.command((cntk, f"configFile={ground.block['configFilePath']}")))


def _caffe(ground: Ground) -> tuple[Process, ...]:
    """The script, or `caffe train` with the solver."""
    if "pythonScriptFilePath" in ground.block:
        return _once_or_mpi(ground, ground.script())
    caffe = ground.program("caffe", "Install Caffe (Debian, Ubuntu: apt-get install caffe-cpu)")
    words = (caffe, "train", f"--solver={ground.block['configFilePath']}")
    return _once_or_mpi(ground, ground.command(words))


def _caffe2(ground: Ground) -> tuple[Process, ...]:
    """One Python process on each node; they meet in the directory that all nodes share."""
    return tuple(_ranked(ground, index, index) for index in range(ground.nodes))


def _pytorch(ground: Ground) -> tuple[Process, ...]:
    """processCount Python processes that meet at a file which all see, or by MPI."""
    backend = ground.block.get("communicationBackend", "")
    shared = ground.envs[0]["AZ_BATCHAI_SHARED_JOB_TEMP"]
    extra = {"AZ_BATCHAI_PYTORCH_INIT_METHOD": f"file://{shared}/pytorch-init"}
    if backend:
        extra["AZ_BATCHAI_PYTORCH_BACKEND"] = backend
    if backend.lower() == "mpi":
        return (_mpi(ground, f"{_OWN_FILES}{ground.script()}", extra),)
    count = ground.count
    return tuple(_ranked(ground, rank, ground.node_of(rank, count), extra) for rank in range(count))


#: Gives each rank its number and its files, as it has them when no MPI starts it.
_OWN_FILES = """export AZ_BATCHAI_TASK_INDEX=$OMPI_COMM_WORLD_RANK
exec >"$AZ_BATCHAI_STDOUTERR_DIR/stdout-$OMPI_COMM_WORLD_RANK.txt"
exec 2>"$AZ_BATCHAI_STDOUTERR_DIR/stderr-$OMPI_COMM_WORLD_RANK.txt"
"""


def _main(text: str) -> Process:
    return Process("main", 0, ("bash", "-c", text))


def _mpi(ground: Ground, text: str, extra: Mapping[str, str] | None = None) -> Process:
    return Process("main", 0, under_mpirun(ground, text), env=extra or {})


def _once_or_mpi(ground: Ground, text: str) -> tuple[Process, ...]:
    return (_main(text) if ground.count == 1 else _mpi(ground, text),)


def _ranked(ground: Ground, rank: int, node: int, extra: Mapping[str, str] | None = None) -> Process:
    return Process(
        f"rank-{rank}",
        node,
        ("bash", "-c", ground.script()),
        f"stdout-{rank}.txt",
        f"stderr-{rank}.txt",
        {"AZ_BATCHAI_TASK_INDEX": str(rank), **(extra or {})},
    )


LAUNCHES: Mapping[str, Callable[[Ground], tuple[Process, ...]]] = {
    "cntkSettings": _cntk,
    "pyTorchSettings": _pytorch,
    "tensorFlowSettings": tensorflow.launch,
    "caffeSettings": _caffe,
    "caffe2Settings": _caffe2,
    "chainerSettings": _mpi_script,
    "customToolkitSettings": _custom,
    "customMpiSettings": _custom_mpi,
    "horovodSettings": _mpi_script,
}
