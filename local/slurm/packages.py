"""Debian's packages of Slurm: their names, and the error if they are missing."""

from local.slurm.programs import Programs, SlurmError

PACKAGES = (
    "libnss-wrapper",
    "munge",
    "slurm-client",
    "slurmctld",
    "slurmd",
    "slurmrestd",
    "slurm-wlm-basic-plugins",
    "slurm-wlm-jwt-plugin",
)


def require(programs: Programs) -> None:
    """Raise SlurmError, with what to install, if something is missing."""
    if lacking := ", ".join(programs.missing_programs()):
        if programs.root:
            raise SlurmError(f"{programs.root} does not contain Slurm ({lacking} not found)")
        raise SlurmError(
            f"Slurm is not installed here ({lacking} not found): run `make install-slurm`, "
            f"or on Debian and Ubuntu: sudo apt-get install {' '.join(PACKAGES)}"
        )
