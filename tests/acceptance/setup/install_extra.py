"""Installs what is too large for every day, once, into an environment of its own.

`install_extra.py NAME DIRECTORY`
"""

import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Extra:
    """Packages, and how many bytes have to be free for them while they are unpacked."""

    packages: tuple[str, ...]
    needs: int


EXTRAS = {
    "az": Extra(("azure-cli==2.91.0",), 2 << 30),
    # On Linux torch brings NVIDIA's libraries, unless pip knows of PyTorch's builds without them.
    "torch": Extra(("torch==2.13.0", "numpy==2.4.3"), 12 << 30),
}


def main(name: str, directory: Path) -> int:
    """Install what is missing; 1 with the reason where it cannot be."""
    extra = EXTRAS[name]
    mark = directory / "installed.txt"
    expected = ", ".join(extra.packages)
    if mark.exists() and mark.read_text() == expected:
        return 0
    if sys.version_info >= (3, 14):
        return _fail(f"{expected} may not know this Python yet; make with PYTHON=python3.13")
    free = shutil.disk_usage(directory.parent).free
    if free < extra.needs:
        return _fail(f"{free >> 20} MiB are free; {expected} may need {extra.needs >> 20} MiB")
    sys.stdout.write(f"installing {expected} into {directory.name}; this takes minutes\n")
    sys.stdout.flush()
    venv.create(directory, with_pip=True, clear=True)
    pip = [str(directory / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "-q"]
    if subprocess.run([*pip, "install", "--no-compile", *extra.packages], check=False).returncode:
        return _fail("pip could not install them; its messages are above")
    mark.write_text(expected)
    return 0


def _fail(reason: str) -> int:
    sys.stderr.write(f"install: {reason}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]).resolve()))
