"""Where things are on a node, and what a job's environment calls them. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.batchai import ids
from local.batchai.records import Job, Node

#: A variable in a path of a job file.
VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
#: Programs that every node has, behind the directories of the settings.
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

#: For every mpirun of a job, with the names of Open MPI 4 (OMPI) and 5 (PRTE).
_OPEN_MPI = {
    # Jobs ran as root, in containers as well.
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    # The nodes are one machine: its cores say nothing about how many processes a node takes.
    "OMPI_MCA_orte_set_default_slots": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_prte_set_default_slots": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": "slot:oversubscribe",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    # Two nodes would take the same names in shared memory; a machine without a network has loopback only.
    "OMPI_MCA_btl": "^vader,sm",
    "OMPI_MCA_btl_tcp_if_exclude": "none",
}


@dataclass(frozen=True)
class Place:
    """The directories of one node, and of one job on it."""

    root: Path
    names: tuple[str, ...] = ()

    @property
    def mounts(self) -> Path:
        """Where the cluster's volumes are mounted."""
        return self.root / "mounts"

    @property
    def jobs(self) -> Path:
        """Where the jobs have their directories."""
        return self.root / "jobs"

    @property
    def job(self) -> Path:
        """The directory of the job."""
        return self.jobs.joinpath(*self.names)

    @property
    def job_mounts(self) -> Path:
        """Where the job's own volumes are mounted."""
        return self.job / "mounts"

    @property
    def work(self) -> Path:
        """The working directory of the job's processes."""
        return self.job / "wd"

    @property
    def shared(self) -> Path:
        """A directory that all nodes of the job see."""
        return self.job / "shared"

    @property
    def hosts(self) -> Path:
        """The host file for MPI."""
        return self.job / "hostfile"


def segment(job: Job) -> str:
    """The folders between a job's path prefix and its output."""
    subscription, group, workspace, experiment, name = ids.parts(job.id)
    place = f"workspaces/{workspace}/experiments/{experiment}/jobs/{name}"
    return f"{subscription}/{group}/{place}/{job.instance}"


def place(data: Path, node: Node, job: Job | None = None) -> Place:
    """The place of a job on a node."""
    return Place(data / "nodes" / str(node.number), ids.parts(job.id)[2:] if job else ())


def node_environment(place: Place, node_path: Sequence[Path]) -> dict[str, str]:
    """What every process on a node gets. Nothing of the emulator's own environment reaches a job."""
    return {
        "PATH": ":".join([*map(str, node_path), _SYSTEM_PATH]),
        "HOME": str(place.root),
        "LANG": "C.UTF-8",
        "AZ_BATCHAI_MOUNT_ROOT": str(place.mounts),
    }


def job_environment(
    job: Job, place: Place, nodes: Sequence[Node], node_path: Sequence[Path], gpus: Sequence[int] = ()
) -> dict[str, str]:
    """What every process of a job gets on the node of that place; the names are those of Batch AI.

    `gpus` are the numbers of this machine's GPUs that the node has.
    """
    base = node_environment(place, node_path) | _OPEN_MPI
    env = base | {
        "PATH": f"{place.job / 'config'}:{base['PATH']}",  # the `ssh` of the job's nodes is there
        "AZ_BATCHAI_JOB_MOUNT_ROOT": str(place.job_mounts),
        "AZ_BATCHAI_JOB_TEMP": str(place.job),
        "AZ_BATCHAI_JOB_TEMP_DIR": str(place.jobs),
        "AZ_BATCHAI_SHARED_JOB_TEMP": str(place.shared),
        "AZ_BATCHAI_MPI_HOST_FILE": str(place.hosts),
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
        else:
            env[f"AZ_BATCHAI_OUTPUT_{name}"] = str(path)
            # Set to nothing unless the job is retried; each attempt has the same directories.
            env[f"AZ_BATCHAI_PREV_OUTPUT_{name}"] = str(path) if job.attempt else ""
    return env | variables(document, env)


#: The id of the directory of standard output and error.
STDOUTERR = "stdouterr"


def output_directories(document: Mapping[str, Any], segment: str, env: Mapping[str, str]) -> dict[str, Path]:
    """The output directories of a job on a node, by id; relative prefixes lie in its working directory."""
    work = Path(env["AZ_BATCHAI_JOB_TEMP"], "wd")
    found = {STDOUTERR: work / expand(document["stdOutErrPathPrefix"], env) / segment / STDOUTERR}
    for directory in document.get("outputDirectories", ()):
        prefix = work / expand(directory["pathPrefix"], env)
        found[directory["id"]] = prefix / segment / "outputs" / directory.get("pathSuffix", "")
    return found


def variables(document: Mapping[str, Any], env: Mapping[str, str]) -> dict[str, str]:
    """The environment variables and secrets that a document defines. Values may use those defined before."""
    seen = dict(env)
    own: dict[str, str] = {}
    for variable in document.get("environmentVariables", ()):
        own[variable["name"]] = seen[variable["name"]] = expand(variable["value"], seen)
    # A secret is taken as it is: a '$' in a password is a '$'.
    own.update({secret["name"]: secret["value"] for secret in document.get("secrets", ())})
    return own


def expand(text: str, env: Mapping[str, str]) -> str:
    """The text with $NAME and ${NAME} replaced where the name is known."""
    return VARIABLE.sub(lambda match: env.get(match[1] or match[2], match[0]), text)
