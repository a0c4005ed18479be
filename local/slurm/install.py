"""`python -m local.slurm.install`: install Slurm from Debian's packages, or say why it cannot be."""

import sys

from local.slurm.packages import PACKAGES, install_packages
from local.slurm.programs import Programs, SlurmError


def install() -> None:
    """Install what is missing with apt-get, as root or by sudo. Raises SlurmError."""
    if not Programs().missing_programs():
        return
    install_packages(PACKAGES)
    if lacking := Programs().missing_programs():
        raise SlurmError(f"the packages are installed, but {', '.join(lacking)} is not there")


def main() -> int:
    """The exit code; 1 with the reason on standard error."""
    try:
        install()
    except SlurmError as error:
        sys.stderr.write(f"slurm: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
