"""Starting the mini cluster, and ending it whatever becomes of us."""

import asyncio
import os
import pwd
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from local.slurm.cluster import Slurm
from local.slurm.configuration import Partition, Site
from local.slurm.home import prepare
from local.slurm.packages import require
from local.slurm.ports import free_ports
from local.slurm.programs import Programs, chosen

#: Nodes come and go with their jobs in the first partition, and are there always in the second.
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
    #: What jobs find in PATH first; by default the programs beside this Python.
    node_path: tuple[Path, ...] = (Path(sys.executable).parent,)
    programs: Programs = field(default_factory=chosen)


@asynccontextmanager
async def slurm(options: Options) -> AsyncIterator[Slurm]:
    """Run the cluster for the length of the block. Raises SlurmError, with the remedy, when it cannot.

    When the block ends, and when this process dies in whatever way, every process of the cluster is killed,
    running jobs included.
    """
    require(options.programs)
    site = _site(options)
    try:
        prepare(site, options.programs, options.node_path)
    except BaseException:
        shutil.rmtree(site.sockets)
        raise
    async with AsyncExitStack() as running:
        cluster = Slurm(site, options.programs, options.port or free_ports(1)[0], running)
        await cluster.end()  # a run that nobody was left to end
        await running.enter_async_context(_ended_with_us(site))
        await cluster.start()
        yield cluster


def _site(options: Options) -> Site:
    names = [name for part in options.partitions for name in part.node_names]
    sockets = Path(tempfile.mkdtemp(prefix="slurm-"))
    sockets.chmod(0o755)
    controller, *ports = free_ports(1 + len(names))
    return Site(
        home=options.data.resolve(),
        sockets=sockets,
        hostname=socket.gethostname().split(".")[0],
        user=pwd.getpwuid(os.geteuid()).pw_name,
        partitions=options.partitions,
        controller_port=controller,
        node_ports=dict(zip(names, ports, strict=True)),
        idle_seconds=options.idle_seconds,
        version=options.programs.version(),
        plugins=options.programs.plugins if options.programs.root else None,
    )


@asynccontextmanager
async def _ended_with_us(site: Site) -> AsyncIterator[None]:
    """A process that outlives us for a moment, and ends the cluster when its standard input ends."""
    janitor = await asyncio.create_subprocess_exec(
        *(site.home / "bin" / "end-with-parent", site.sockets),
        stdin=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield
    finally:
        assert janitor.stdin is not None
        janitor.stdin.close()
        await janitor.wait()
