"""Installs the Azure CLI into an environment of its own, once: `install_az.py DIRECTORY`."""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

VERSION = "2.91.0"
_NEEDS = 2 << 30  # bytes free: the packages while they are unpacked, and the installation


def main(directory: Path) -> int:
    """Install what is missing; 1 with the reason where it cannot be."""
    mark = directory / f"azure-cli-{VERSION}"
    if mark.exists():
        return 0
    if sys.version_info >= (3, 14):
        sys.stderr.write("test-az: the Azure CLI needs Python 3.10 to 3.13; make with PYTHON=python3.13\n")
        return 1
    free = shutil.disk_usage(directory.parent).free
    if free < _NEEDS:
        sys.stderr.write(f"test-az: {free >> 20} MiB are free; the Azure CLI needs {_NEEDS >> 20} MiB\n")
        return 1
    sys.stdout.write(f"installing the Azure CLI {VERSION} into {directory.name}; this takes minutes\n")
    sys.stdout.flush()
    venv.create(directory, with_pip=True, clear=True)
    pip = [str(directory / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "-q"]
    done = subprocess.run([*pip, "install", "--no-compile", f"azure-cli=={VERSION}"], check=False)
    if done.returncode:
        sys.stderr.write("test-az: pip could not install the Azure CLI; its messages are above\n")
        return 1
    mark.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
