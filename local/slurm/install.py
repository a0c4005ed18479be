"""`python -m local.slurm.install`: install Slurm from Debian's packages, or say why that is not possible."""

import sys

from local.setup.debian import install_packages
from local.setup.interpreter import InstallError
from local.slurm.packages import PACKAGES
from local.slurm.programs import Programs

_BY_HAND = (
    "Slurm is installed from Debian's packages, and there is no apt-get here: on another system "
    "install munge and Slurm 22.05 or newer, with slurmrestd and its JWT plugin, by hand"
)


def install() -> None:
    """Install what is missing with apt-get, as root or by sudo. Raises InstallError."""
    if not Programs().missing_programs():
        return
    install_packages(PACKAGES, _BY_HAND)
    if lacking := Programs().missing_programs():
        raise InstallError(f"the packages are installed, but {', '.join(lacking)} is missing")


def main() -> int:
    """The exit code; 1 with the reason on standard error."""
    try:
        install()
    except InstallError as error:
        sys.stderr.write(f"slurm: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
