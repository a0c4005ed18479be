"""Slurm's programs: this system's, or those of a newer Debian that was unpacked beside it."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from local.process import StartError

_SYSTEM = "/usr/sbin:/usr/bin:/sbin:/bin"
_NAMES = ("munged", "slurmctld", "slurmd", "slurmrestd", "scontrol", "sinfo", "srun")

_INTERFACES = (
    ((26, 5), "v0.0.45"),
    ((25, 11), "v0.0.44"),
    ((25, 5), "v0.0.43"),
    ((24, 11), "v0.0.42"),
    ((24, 5), "v0.0.41"),
    ((23, 11), "v0.0.40"),
    ((23, 2), "v0.0.39"),
    ((0, 0), "v0.0.38"),
)


class SlurmError(StartError):
    """The mini cluster cannot run here, or did not start; the message names the remedy."""


@dataclass(frozen=True)
class Programs:
    """The place of Slurm. `root` is a directory filled by `local.slurm.newer`, or None for this system."""

    root: Path | None = None

    @property
    def path(self) -> str:
        """PATH for processes that run them."""
        return f"{self.root}/slurm:{_SYSTEM}" if self.root else _SYSTEM

    @property
    def plugins(self) -> Path | None:
        """The directory of the plugins; None if the programs know it."""
        files = (self.root or Path("/")).glob("usr/lib/*/slurm-wlm/auth_jwt.so")
        return next((file.parent for file in files), None)

    def missing_programs(self) -> tuple[str, ...]:
        """The programs and plugins that are missing."""
        lacking = [name for name in _NAMES if not shutil.which(name, path=self.path)]
        names = any(Path("/usr/lib").glob("*/libnss_wrapper.so"))
        return (
            *lacking,
            *([] if self.plugins else ["auth_jwt.so"]),
            *([] if names else ["libnss_wrapper.so"]),
        )

    def version(self) -> tuple[int, int]:
        """Major and minor number, e.g. (22, 5). Raises SlurmError."""
        env = {"PATH": self.path}
        try:
            output = subprocess.run(["slurmctld", "-V"], check=True, capture_output=True, env=env).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            raise SlurmError(f"slurmctld does not run: {error}") from error
        return version_of(output.decode())


def find_programs() -> Programs:
    """The programs of the directory in SLURM_ROOT; without it, those of this system."""
    root = os.environ.get("SLURM_ROOT")
    return Programs(Path(root).resolve() if root else None)


def version_of(output: str) -> tuple[int, int]:
    """Major and minor number in the output of `slurmctld -V`."""
    numbers = re.search(r"(\d+)\.(\d+)\.", output)
    if not numbers:
        raise SlurmError(f"no version can be read in slurmctld's {output.strip()!r}")
    return int(numbers[1]), int(numbers[2])


def openapi(version: tuple[int, int], *, accounting: bool = False) -> str:
    """The plugins of slurmrestd; those that need a database only if there is one."""
    if version >= (23, 11):
        return "slurmctld,slurmdbd" if accounting else "slurmctld"
    return "openapi/v0.0.38,openapi/dbv0.0.38" if accounting else "openapi/v0.0.38"


def api(version: tuple[int, int]) -> str:
    """The path of the newest interface that a version serves; all later versions serve the last one."""
    return next(f"/slurm/{name}" for first, name in _INTERFACES if version >= first)
