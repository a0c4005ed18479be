"""The variables of a job's processes, as templates in the order of definition. Pure.

The names are those of Batch AI. Values may use earlier variables, and $SLIPWAY_RUN, $SLIPWAY_HOSTS and
$SLIPWAY_HOST_<n>, which the program on the nodes sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from shared.core.code.record import WORK
from shared.core.engine import Order
from shared.core.relations.contents import SAVED, saved_id
from shared.engines.launch.site import Site

#: For every mpirun, also a job's own, with the names of Open MPI 4 (OMPI) and 5 (PRTE). Jobs may run as root.
_OPEN_MPI = {
    f"{name}_ALLOW_RUN_AS_ROOT{suffix}": "1" for name in ("OMPI", "PRTE") for suffix in ("", "_CONFIRM")
}


def system(site: Site) -> dict[str, str]:
    """The variables that every job has."""
    temporary, shared = f"{site.temporary}/$SLIPWAY_RUN", f"{site.records}/$SLIPWAY_RUN/shared"
    return {
        "AZ_BATCHAI_MOUNT_ROOT": site.mount_root,
        "AZ_BATCHAI_JOB_TEMP": temporary,
        "AZ_BATCHAI_JOB_TEMP_DIR": site.temporary,
        "AZ_BATCHAI_JOB_MOUNT_ROOT": f"{temporary}/mounts",
        "AZ_BATCHAI_SHARED_JOB_TEMP": shared,
        "AZ_BATCHAI_MPI_HOST_FILE": f"{shared}/hostfile",
        "AZ_BATCHAI_NUM_GPUS": str(site.gpus),
        "AZ_BATCHAI_NUM_GPUS_PER_NODE": str(site.gpus),
        "AZ_BATCH_HOST_LIST": "$SLIPWAY_HOSTS",
        "AZ_BATCH_MASTER_NODE": "$SLIPWAY_HOST_0",
        "SLIPWAY_GRACE": str(site.grace),
        **_OPEN_MPI,
        # Open MPI would kill its processes a second after it has asked them to end.
        **{f"{name}_MCA_odls_base_sigkill_timeout": str(site.grace) for name in ("OMPI", "PRTE")},
        **({"SLIPWAY_CODE": f"{temporary}/{folder_of(site.code.at)}"} if site.code else {}),
    }


def folder_of(at: str) -> str:
    """Where the code is in a run's own directory."""
    return "wd" if at == WORK else f"mounts/{at}"


def inputs(properties: Mapping[str, Any]) -> dict[str, str]:
    """The variables that hold the paths of the input directories."""
    directories = properties.get("inputDirectories") or ()
    return {f"AZ_BATCHAI_INPUT_{directory['id']}": directory["path"] for directory in directories}


def saved_before(site: Site, order: Order) -> dict[str, str]:
    """The variables with what earlier jobs saved, on the same cluster."""
    above = site.saved.rpartition("/")[0]
    near = (one for one in order.before if one.target.cluster == order.target.cluster)
    return {one.saved: f"{above}/{one.target.job_id}" for one in near if above and one.saved}


class OutputDirectory(NamedTuple):
    """Its variable, its id, its prefix in the job file, and the path that the run appends."""

    variable: str
    id: str
    prefix: str
    rest: str


def outputs(site: Site, properties: Mapping[str, Any]) -> list[OutputDirectory]:
    """The output directories, the one for stdout and stderr first, and what outlives the attempts last."""
    run = f"{site.segment}/$SLIPWAY_RUN"
    prefix = properties["stdOutErrPathPrefix"]
    directories = [OutputDirectory("AZ_BATCHAI_STDOUTERR_DIR", "stdouterr", prefix, f"{run}/stdouterr")]
    for directory in properties.get("outputDirectories") or ():
        rest = f"{run}/outputs/{directory.get('pathSuffix') or ''}".rstrip("/")
        name = directory["id"]
        variable = f"AZ_BATCHAI_OUTPUT_{name}"
        directories.append(OutputDirectory(variable, name, directory["pathPrefix"], rest))
    if site.saved:
        above, _, name = site.saved.rpartition("/")
        directories.append(OutputDirectory(SAVED, saved_id(properties), above, name))
    return directories


def own(properties: Mapping[str, Any]) -> dict[str, str]:
    """The variables that the job sets itself, without its secrets."""
    return {v["name"]: str(v["value"]) for v in properties.get("environmentVariables") or ()}


def secrets(properties: Mapping[str, Any]) -> dict[str, str]:
    """The job's secrets, which are not expanded: a '$' in a password is a '$'."""
    entries = properties.get("secrets") or ()
    return {s["name"]: str(s["value"]) for s in entries if s.get("value") is not None}
