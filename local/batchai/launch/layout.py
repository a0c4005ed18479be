"""The directories of a node, and their names in a job's environment. Pure."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from local.batchai.state import ids
from local.batchai.state.models import Job
from local.nodes.environment import OPEN_MPI, base_environment, expand
from local.nodes.machine import Directories, Machine


def segment(job: Job) -> str:
    """The folders between a job's path prefix and its output."""
    subscription, group, workspace, experiment, name = ids.names_in(job.id)
    path = f"workspaces/{workspace}/experiments/{experiment}/jobs/{name}"
    return f"{subscription}/{group}/{path}/{job.instance}"


def node_environment(directories: Directories, node_path: Sequence[Path]) -> dict[str, str]:
    """The environment of every process on a node."""
    return base_environment(directories, node_path) | {"AZ_BATCHAI_MOUNT_ROOT": str(directories.mounts)}


def job_environment(
    job: Job,
    directories: Directories,
    nodes: Sequence[Machine],
    node_path: Sequence[Path],
    gpus: Sequence[int] = (),
) -> dict[str, str]:
    """The environment of a job's processes on the node with these directories, with Batch AI's names.

    `gpus` are the numbers of this machine's GPUs that the node has.
    """
    base = node_environment(directories, node_path) | OPEN_MPI
    env = base | {
        "PATH": f"{directories.job / 'config'}:{base['PATH']}",  # the `ssh` of the job's nodes is there
        "AZ_BATCHAI_JOB_MOUNT_ROOT": str(directories.job_mounts),
        "AZ_BATCHAI_JOB_TEMP": str(directories.job),
        "AZ_BATCHAI_JOB_TEMP_DIR": str(directories.jobs),
        "AZ_BATCHAI_SHARED_JOB_TEMP": str(directories.shared),
        "AZ_BATCHAI_MPI_HOST_FILE": str(directories.hosts),
        "AZ_BATCHAI_NUM_GPUS": str(len(gpus)),
        "AZ_BATCHAI_NUM_GPUS_PER_NODE": str(len(gpus)),
        "AZ_BATCH_HOST_LIST": ",".join(node.address for node in nodes),
    }
    if gpus:
        env["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
    document = job.document
    for directory in document.get("inputDirectories", ()):
        env[f"AZ_BATCHAI_INPUT_{directory['id']}"] = expand(directory["path"], env)
    for name, path in output_directories(document, segment(job), env).items():
        if name == STDOUTERR:
            env["AZ_BATCHAI_STDOUTERR_DIR"] = str(path)
        elif name != USAGE:
            env[f"AZ_BATCHAI_OUTPUT_{name}"] = str(path)
            # Empty unless the job is retried; each attempt has the same directories.
            env[f"AZ_BATCHAI_PREV_OUTPUT_{name}"] = str(path) if job.attempt else ""
    return env | variables(document, env)


#: The id of the directory of standard output and error, and of that of the nodes' reports, which the id of no
#: document can be.
STDOUTERR, USAGE = "stdouterr", "slipway-usage"
#: The variable by which a job asks for reports of its nodes.
_ASKS = "SLIPWAY_USAGE"


def asks_for_usage(document: Mapping[str, Any]) -> bool:
    """Whether the nodes of a job are to report how busy they are."""
    return any(variable["name"] == _ASKS for variable in document.get("environmentVariables", ()))


def output_directories(document: Mapping[str, Any], segment: str, env: Mapping[str, str]) -> dict[str, Path]:
    """The output directories of a job on a node, by id; relative prefixes lie in its working directory."""
    work = Path(env["AZ_BATCHAI_JOB_TEMP"], "wd")
    logs = work / expand(document["stdOutErrPathPrefix"], env) / segment
    directories = {STDOUTERR: logs / STDOUTERR}
    if asks_for_usage(document):
        directories[USAGE] = logs / "usage"
    for directory in document.get("outputDirectories", ()):
        prefix = work / expand(directory["pathPrefix"], env)
        directories[directory["id"]] = prefix / segment / "outputs" / directory.get("pathSuffix", "")
    return directories


def variables(document: Mapping[str, Any], env: Mapping[str, str]) -> dict[str, str]:
    """The environment variables and secrets that a document defines. Values may use those defined before."""
    values = dict(env)
    own: dict[str, str] = {}
    for variable in document.get("environmentVariables", ()):
        own[variable["name"]] = values[variable["name"]] = expand(variable["value"], values)
    # A secret is taken as it is: a '$' in a password is a '$'.
    own.update({secret["name"]: secret["value"] for secret in document.get("secrets", ())})
    return own
