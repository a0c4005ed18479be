"""A real Slurm as the cluster of the stack."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from local.azurite import ACCOUNT
from local.clusters.kind import DATA, ENDS, NAME, SCRIPTS, ClusterOptions, Installed, Running
from local.mirrored import make_container, mirrored
from local.slurm import Options, Partition, slurm
from local.slurm.deployment import app_settings
from local.slurm.programs import SlurmError, find_programs


@asynccontextmanager
async def start(cluster_options: ClusterOptions) -> AsyncIterator[Running]:
    """Run it with one partition for the length of the block. Raises StartError."""
    nodes = Partition(name="nodes", nodes=cluster_options.nodes)
    options = Options(data=cluster_options.data / "slurm", partitions=(nodes,), port=cluster_options.port)
    string = cluster_options.storage.connection_string
    async with slurm(options) as cluster:
        await make_container(string, ENDS)

        def serving() -> AbstractAsyncContextManager[None]:
            return mirrored(cluster.shared, string, (DATA, ENDS), read=(SCRIPTS,))

        yield Running(
            url=cluster.url,
            settings=app_settings(
                cluster, NAME, ACCOUNT, mounted=DATA, ends=ENDS, containers=(SCRIPTS, DATA)
            ),
            connection_string=string,
            processes=cluster.processes,
            hints=(f"{cluster.exports}   (for sinfo, squeue…)",),
            serving=serving,
        )


def installed() -> Installed:
    """The version of Slurm here, or how to install it."""
    programs, remedy = find_programs(), "`make install-slurm`"
    lacking = programs.missing_programs()
    if lacking and shutil.which("slurmctld", path=programs.path):
        return Installed(remedy=remedy, trouble=f"there is no {', '.join(lacking)}")
    if lacking:
        return Installed(remedy=remedy)
    try:
        return Installed(".".join(map(str, programs.version())))
    except SlurmError as error:
        return Installed(remedy=remedy, trouble=str(error))
