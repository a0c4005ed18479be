"""What a job may mount beside containers: the file servers that the operator names for its cluster.

Mount commands, which run as root, are refused unless the operator allows them. On Batch AI the service
decides which file servers of its workspace a job may mount.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from shared.engines.batch.job.check import check as on_batch
from shared.engines.kubernetes.job.check import check as on_kubernetes
from shared.engines.registry import ENGINES
from shared.engines.slurm.job.check import check as on_slurm
from shared.jobspec import Limits, Problem, validate
from tests.unit.engines.batch.service import CLUSTER as BATCH
from tests.unit.engines.kubernetes.job.job_goldens import CLUSTER as KUBERNETES
from tests.unit.engines.slurm.launch_plans import CLUSTER as SLURM

_SERVER = "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w/fileServers/{}"
#: Engine → the problems of a job on a cluster where these file servers have a directory.
CHECKS: dict[str, Callable[[Mapping[str, str], Mapping[str, Any]], Iterable[Problem]]] = {
    "batch": lambda mounts, job: on_batch(replace(BATCH, mounts=mounts), job),
    "slurm": lambda mounts, job: on_slurm(replace(SLURM, mounts=mounts), job),
    "kubernetes": lambda mounts, job: on_kubernetes(replace(KUBERNETES, mounts=mounts), job),
}


def _job(**volumes: Any) -> dict[str, Any]:
    return {
        "nodeCount": 1,
        "customToolkitSettings": {"commandLine": "true"},
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        "mountVolumes": volumes,
    }


def test_each_engine_of_ours_checks_what_a_job_mounts() -> None:
    assert {*CHECKS} == {*ENGINES} - {"batchai"}


@pytest.mark.parametrize("engine", sorted(CHECKS))
def test_a_file_server_that_the_operator_does_not_name_is_refused(engine: str) -> None:
    mounts = {_SERVER.format("ours"): "/data/ours"}
    of_ours, of_others = (
        _job(fileServers=[{"fileServer": {"id": _SERVER.format(name)}, "relativeMountPath": "x"}])
        for name in ("ours", "theirs")
    )

    at = "/properties/mountVolumes/fileServers/0"
    assert not [one for one in CHECKS[engine](mounts, of_ours) if one.pointer.startswith(at)]
    assert [one.pointer for one in CHECKS[engine](mounts, of_others)] == [at]


def test_a_mount_command_is_refused_unless_the_operator_allows_it() -> None:
    job = {"properties": _job(unmanagedFileSystems=[{"mountCommand": "mount x", "relativeMountPath": "u"}])}

    refused, allowed = (
        {one.code for one in validate(job, limits=limits)[1]}
        for limits in (Limits(), Limits(unmanaged_mounts=True))
    )

    assert "SW038" in refused
    assert "SW038" not in allowed
