"""Starts the mini cluster, and ends it even if this process is killed."""

import asyncio
import os
import pwd
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from local.folder_lock import folder_lock
from local.node_python import node_python
from local.ports import free_ports
from local.process import piped
from local.slurm.accounting import Accounting
from local.slurm.cluster import Slurm
from local.slurm.configuration import Partition, Site
from local.slurm.home import prepare
from local.slurm.packages import require
from local.slurm.programs import Programs, SlurmError, find_programs

#: In the first partition nodes start and stop with their jobs; in the second they always run.
PARTITIONS = (Partition(name="elastic", gpus=1), Partition(name="warm", gpus=1, elastic=False))


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to start the cluster. `data` keeps its configuration, state and logs."""

    data: Path
    partitions: tuple[Partition, ...] = PARTITIONS
    #: Of slurmrestd; 0 is any free one.
    port: int = 0
    #: Seconds until an elastic node without a job is stopped.
    idle_seconds: int = 2
    #: Seconds that a node may take to start; one that takes longer is powered off, and may be tried again.
    boot_seconds: int = 30
    #: The first directory in the PATH of jobs; by default one with a Python of the cluster's own.
    node_path: tuple[Path, ...] = ()
    programs: Programs = field(default_factory=find_programs)
    #: Whether slurmdbd records jobs, in a MariaDB of its own.
    accounting: bool = False
    #: As in `Site`.
    max_jobs: int = 10_000
    job_age: int = 300
    enforced: str = "ALL"


@asynccontextmanager
async def slurm(options: Options) -> AsyncIterator[Slurm]:
    """Run the cluster for the length of the block. Raises SlurmError, with the remedy, when it cannot.

    When the block ends, and when this process dies in any way, every process of the cluster is killed,
    running jobs included.
    """
    require(options.programs)
    home = options.data.resolve()
    refusal = SlurmError(f"a cluster runs in {home} already: stop it, or choose another directory")
    with (
        folder_lock(home, refusal),
        tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as sockets,
    ):
        site = _site(options, home, Path(sockets))
        prepare(site, options.programs, options.node_path or (await node_python(home / "python"),))
        async with AsyncExitStack() as running:
            cluster = Slurm(site, options.programs, running)
            await cluster.end()  # left by a run whose starter died
            await running.enter_async_context(_ended_with_us(site))
            await cluster.start()
            yield cluster


def _site(options: Options, home: Path, sockets: Path) -> Site:
    names = [name for partition in options.partitions for name in partition.node_names]
    sockets.chmod(0o755)
    # All at once: no port has a listener yet, so a second call might return one of them again.
    controller, gateway, slurmdbd, database, *ports = free_ports(4 + len(names))
    return Site(
        home=home,
        sockets=sockets,
        hostname=socket.gethostname().split(".")[0],
        user=pwd.getpwuid(os.geteuid()).pw_name,
        partitions=options.partitions,
        controller_port=controller,
        gateway_port=options.port or gateway,
        node_ports=dict(zip(names, ports, strict=True)),
        idle_seconds=options.idle_seconds,
        boot_seconds=options.boot_seconds,
        accounting=Accounting(slurmdbd, database) if options.accounting else None,
        version=options.programs.version(),
        plugins=options.programs.plugins if options.programs.root else None,
        max_jobs=options.max_jobs,
        job_age=options.job_age,
        enforced=options.enforced,
    )


@asynccontextmanager
async def _ended_with_us(site: Site) -> AsyncIterator[None]:
    """Start a process that outlives us for a moment, and ends the cluster when its standard input ends."""
    janitor = await asyncio.create_subprocess_exec(
        *(site.home / "bin" / "end-with-parent", site.sockets),
        stdin=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield
    finally:
        piped(janitor.stdin).close()
        await janitor.wait()
