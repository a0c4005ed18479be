"""A real, elastic Slurm cluster on this machine, from Debian's packages: no systemd, no root needed.

`make slurm-up` runs one until Ctrl-C. A test runs its own:

    async with slurm(Options(data=tmp_path)) as cluster:
        cluster.url            # http://127.0.0.1:PORT, slurmrestd
        cluster.api            # /slurm/v0.0.38, or what this version serves
        cluster.user           # for X-SLURM-USER-NAME: jobs run as the user of this process
        cluster.token()        # for X-SLURM-USER-TOKEN; cluster.jwt_key is the file that signs it
        cluster.partitions     # names: `elastic` starts at 0 nodes, those of `warm` run always
        cluster.shared         # a directory that all nodes see, for mounts, scripts and outputs
        cluster.nodes()        # the nodes whose slurmd runs now
        await cluster.kill_controller()      # SIGKILL; start_controller() brings it back with its state
        await cluster.kill_node("warm-1")    # SIGKILL to slurmd and all that runs there; start_node("warm-1")
        await cluster.kill_gateway()         # slurmrestd; start_gateway()
        await cluster.command("squeue", "--noheader")   # a client command's output

Nodes are slurmd processes that slurmctld starts (ResumeProgram) and stops (SuspendProgram). Everything,
state and logs included, is under `Options.data`; the state is kept from one run to the next. No process
survives the block, nor its owner's death. `missing_programs()` names what a test lacks, so that it can be
skipped. With SLURM_ROOT set to a directory that `python -m local.slurm.newer 24.11` has filled, all of
it is that Slurm.

In: a folder and the partitions. Out: a cluster behind slurmrestd, as above.
"""

from local.slurm.cluster import Slurm
from local.slurm.configuration import Partition
from local.slurm.programs import Programs, SlurmError, find_programs
from local.slurm.start import Options, slurm

__all__ = [
    "Options",
    "Partition",
    "Programs",
    "Slurm",
    "SlurmError",
    "find_programs",
    "missing_programs",
    "slurm",
]


def missing_programs() -> tuple[str, ...]:
    """What the chosen Slurm lacks to run here; empty if nothing is missing."""
    return find_programs().missing_programs()
