"""`python -m local.slurm.newer 24.11`: unpack the Slurm of a newer Debian beside this system's.

Its programs get the loader and the libraries that were unpacked with them, so they run here as they are:
no chroot, no mounts, and jobs see this machine.
"""

import os
import shutil
import sys
from pathlib import Path

from local.setup.debian import execute, install_packages
from local.setup.interpreter import InstallError
from local.slurm.packages import PACKAGES
from local.slurm.programs import Programs, SlurmError, version_of

ROOT = Path(__file__).resolve().parents[2]
#: Slurm's version → the Debian release that has it; sid has it until its next upgrade.
SUITES = {"24.11": "trixie", "26.05": "sid"}
_MIRROR = "http://deb.debian.org/debian"
_PROGRAMS = ("munged", "slurmctld", "slurmd", "slurmrestd", "slurmstepd")
_CLIENTS = ("sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun")


def unpack(version: str) -> Path:
    """The directory with that Slurm, filled if necessary. Raises SlurmError or InstallError."""
    if version not in SUITES:
        raise SlurmError(f"Slurm {version} is not available; choose one of {', '.join(SUITES)}")
    folder = ROOT / ".local" / f"slurm-{version}"
    if not (folder / "slurm").is_dir():
        tools = [name for name in ("mmdebstrap", "patchelf") if not shutil.which(name)]
        if tools:
            install_packages(tools, f"{', '.join(tools)} and apt-get are needed: install them by hand")
        fresh = folder.with_name(f"{folder.name}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.parent.mkdir(exist_ok=True)
        include = f"--include={','.join(PACKAGES)}"
        execute(["mmdebstrap", "--variant=extract", include, SUITES[version], str(fresh), _MIRROR])
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
        _adopt(folder)
    unpacked = Programs(folder).version()
    if unpacked != version_of(f"{version}."):
        raise SlurmError(
            f"{folder} has Slurm {unpacked[0]}.{unpacked[1]:02} instead of {version}: remove it, try again"
        )
    return folder


def _adopt(folder: Path) -> None:
    """Make the programs use the unpacked libraries, and link them in a directory of their own."""
    plugins = Programs(folder).plugins
    loader = next(folder.glob("usr/lib*/ld-linux-*.so.*"), None)
    if plugins is None or loader is None:
        raise SlurmError(f"{folder} does not contain Slurm, or lacks its loader: remove it, and try again")
    libraries = ["--force-rpath", "--set-rpath", f"{plugins}:{plugins.parent}"]
    for plugin in plugins.glob("*.so"):
        if not plugin.is_symlink():
            execute(["patchelf", *libraries, str(plugin)])
    links = folder / "slurm.new"
    links.mkdir(exist_ok=True)
    for name in (*_PROGRAMS, *_CLIENTS):
        program = _program(folder, name)
        execute(["patchelf", "--set-interpreter", str(loader), *libraries, str(program)])
        (links / name).unlink(missing_ok=True)
        (links / name).symlink_to(os.path.relpath(program, links))
    links.rename(folder / "slurm")


def _program(folder: Path, name: str) -> Path:
    for program in (*folder.glob(f"usr/*bin/{name}-wlm"), *folder.glob(f"usr/*bin/{name}")):
        return program
    raise SlurmError(f"{folder} does not contain {name}: remove it, and try again")


def main() -> int:
    """The exit code; the directory on standard output, or the reason on standard error."""
    try:
        sys.stdout.write(f"{unpack(sys.argv[1] if len(sys.argv) > 1 else max(SUITES))}\n")
    except (SlurmError, InstallError) as error:
        sys.stderr.write(f"slurm: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
