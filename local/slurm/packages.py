"""Debian's packages of Slurm: which they are, and how they are installed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

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
_TIMEOUT = 300.0


def require(programs: Programs) -> None:
    """Raises SlurmError, with what to install, when something is missing."""
    if lacking := ", ".join(programs.missing_programs()):
        if programs.root:
            raise SlurmError(f"{programs.root} has no Slurm ({lacking} not found)")
        raise SlurmError(
            f"Slurm is not installed here ({lacking} not found): run `make install-slurm`, "
            f"or on Debian and Ubuntu: sudo apt-get install {' '.join(PACKAGES)}"
        )


def install_packages(names: Sequence[str]) -> None:
    """Install Debian packages, as root or by sudo. Raises SlurmError."""
    if not shutil.which("apt-get"):
        raise SlurmError(
            "Slurm is installed from Debian's packages, and there is no apt-get here: on another system "
            "install munge and Slurm 22.05 or newer, with slurmrestd and its JWT plugin, by hand"
        )
    as_root = [] if os.geteuid() == 0 else _sudo(names)
    execute([*as_root, "apt-get", "update", "-qq"])
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq"]
    execute([*as_root, *quiet, "--no-install-recommends", *names])


def execute(argv: Sequence[str]) -> None:
    """Run a program to its end. Raises SlurmError with its last lines when it fails."""
    shown = " ".join(argv)
    try:
        process = subprocess.run(
            argv, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SlurmError(f"`{shown}` failed: {error}") from error
    if process.returncode:
        last = process.stdout.decode("utf-8", "replace").strip().splitlines()[-3:]
        raise SlurmError(f"`{shown}` failed (exit code {process.returncode}): {' | '.join(last)}")


def _sudo(names: Sequence[str]) -> list[str]:
    if not shutil.which("sudo"):
        raise SlurmError(
            f"packages are missing, and only root may install them: run as root "
            f"apt-get install {' '.join(names)}"
        )
    return ["sudo", *([] if sys.stdin.isatty() else ["-n"])]
