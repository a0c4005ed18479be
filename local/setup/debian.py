"""Debian's packages, and programs that run to their end while something is installed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from local.setup.interpreter import InstallError

_TIMEOUT = 600.0


def install_packages(names: Sequence[str], by_hand: str) -> None:
    """Install packages with apt-get, as root or by sudo. Raises InstallError.

    `by_hand` says what to do on a system that has no apt-get.
    """
    if not shutil.which("apt-get"):
        raise InstallError(by_hand)
    as_root = [] if os.geteuid() == 0 else _sudo(names)
    execute([*as_root, "apt-get", "update", "-qq"])
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq"]
    execute([*as_root, *quiet, "--no-install-recommends", *names])


def execute(argv: Sequence[str]) -> None:
    """Run a program to its end. Raises InstallError with its last lines when it fails."""
    shown = " ".join(argv)
    try:
        process = subprocess.run(
            argv, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(f"`{shown}` failed: {error}") from error
    if process.returncode:
        last = process.stdout.decode("utf-8", "replace").strip().splitlines()[-3:]
        raise InstallError(f"`{shown}` failed (exit code {process.returncode}): {' | '.join(last)}")


def _sudo(names: Sequence[str]) -> list[str]:
    if not shutil.which("sudo"):
        raise InstallError(
            f"packages are missing, and only root may install them: run as root "
            f"apt-get install {' '.join(names)}"
        )
    return ["sudo", *([] if sys.stdin.isatty() else ["-n"])]
