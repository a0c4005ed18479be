"""The package that a deployment sends, and what Azure's remote build makes of it.

Oryx installs `requirements.txt` into `.python_packages/lib/site-packages`, which the Python worker puts on
its path; nothing else of this machine is there.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = Path(".python_packages") / "lib" / "site-packages"
#: Imports of which the median is taken.
_IMPORTS = 5
_SHOW = "; import resource; u = resource.getrusage(0); print(u.ru_utime + u.ru_stime)"


@dataclass(frozen=True)
class Size:
    """Bytes of a package, and processor seconds of the first import of its app."""

    sent_bytes: int
    built_bytes: int
    seconds: float

    def __str__(self) -> str:
        sizes = f"{self.sent_bytes / 1e6:.1f} MB are sent, {self.built_bytes / 1e6:.0f} MB are built"
        return f"{sizes}, and the app is imported in {self.seconds * 1000:.0f} ms"


def package(folder: Path) -> None:
    """Copy what .funcignore leaves of the project, the built page included."""
    for name in _names():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    shutil.copytree(ROOT / "page", folder / "page", symlinks=False)


def measure(python: str, folder: Path) -> Size:
    """The sizes of a package in which `requirements.txt` is installed, and its import by that Python.

    Raises subprocess.CalledProcessError when the app does not load from there alone.
    """
    app = folder.parent / "sent.zip"
    with zipfile.ZipFile(app, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in folder.rglob("*"):
            if path.is_file() and PACKAGES.parts[0] not in path.relative_to(folder).parts:
                archive.write(path, path.relative_to(folder))
    built = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["PYTHONPATH"] = str(folder / PACKAGES)
    code = "import sys; sys.path.insert(0, ''); import function_app"
    spent = [
        float(
            subprocess.run(
                [python, "-s", "-W", "error", "-c", code + show],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for show in [_SHOW] * _IMPORTS
    ]
    return Size(app.stat().st_size, built, statistics.median(spent))


def _names() -> Iterator[str]:
    """The project's files that .funcignore does not name; its patterns are those of git."""
    listed, ignored = (
        set(
            subprocess.run(
                ["git", "ls-files", "-z", *options], cwd=ROOT, capture_output=True, text=True, check=True
            ).stdout.split("\0")
        )
        for options in ([], ["--cached", "--ignored", "--exclude-from=.funcignore"])
    )
    yield from sorted((listed - ignored) - {""})
