"""`python -m local.slurm.packages`: install Slurm from Debian's packages, or say why it cannot be."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PACKAGES = (
    "munge",
    "slurm-client",
    "slurmctld",
    "slurmd",
    "slurmrestd",
    "slurm-wlm-basic-plugins",
    "slurm-wlm-jwt-plugin",
)
_PROGRAMS = ("munged", "slurmctld", "slurmd", "slurmrestd", "scontrol", "srun")
_PLACES = "/usr/sbin:/usr/bin:/sbin:/bin"
_TIMEOUT = 300.0


class SlurmError(RuntimeError):
    """The mini cluster cannot run here, or did not start; the message says what to do about it."""


def missing() -> tuple[str, ...]:
    """The programs and plugins of Slurm that this machine does not have; none when all is there."""
    programs = [name for name in _PROGRAMS if not shutil.which(name, path=_PLACES)]
    plugins = [] if any(Path("/usr/lib").glob("*/slurm-wlm/auth_jwt.so")) else ["auth_jwt.so"]
    return (*programs, *plugins)


def require() -> None:
    """Raises SlurmError, with what to install, when something is missing."""
    if lacking := missing():
        raise SlurmError(
            f"Slurm is not installed here ({', '.join(lacking)} not found): run `make install-slurm`, "
            f"or on Debian and Ubuntu: sudo apt-get install {' '.join(PACKAGES)}"
        )


def openapi(version: str) -> str:
    """The plugins of slurmrestd that need no database, by what `slurmctld -V` says."""
    major, minor = map(int, re.findall(r"\d+", version)[:2])
    return "slurmctld" if (major, minor) >= (23, 11) else "openapi/v0.0.38"


def install() -> None:
    """Install what is missing with apt-get, as root or by sudo. Raises SlurmError."""
    if not missing():
        return
    if not shutil.which("apt-get"):
        raise SlurmError(
            "Slurm is installed from Debian's packages, and there is no apt-get here: on another system "
            "install munge and Slurm 22.05 or newer, with slurmrestd and its JWT plugin, by hand"
        )
    as_root = [] if os.geteuid() == 0 else _sudo()
    _run([*as_root, "apt-get", "update", "-qq"])
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq"]
    _run([*as_root, *quiet, "--no-install-recommends", *PACKAGES])
    if lacking := missing():
        raise SlurmError(f"the packages are installed, but {', '.join(lacking)} is not there")


def _sudo() -> list[str]:
    if not shutil.which("sudo"):
        raise SlurmError(
            "Slurm is not installed, and only root may install it: run as root "
            f"apt-get install {' '.join(PACKAGES)}"
        )
    return ["sudo", *([] if sys.stdin.isatty() else ["-n"])]


def _run(argv: Sequence[str]) -> None:
    shown = " ".join(argv)
    try:
        done = subprocess.run(
            argv, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SlurmError(f"`{shown}` failed: {error}") from error
    if done.returncode:
        last = done.stdout.decode("utf-8", "replace").strip().splitlines()[-3:]
        raise SlurmError(f"`{shown}` failed (exit code {done.returncode}): {' | '.join(last)}")


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
