"""The wheel of the project: made from a copy, so that the checkout stays as it is."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
#: What a wheel is made of; the app and the local stack are there, so that they could come in.
_FILES = ("setup.py", "pyproject.toml", "README.md", "LICENSE", "function_app.py")
_FOLDERS = ("confined", "functions", "local", "shared", "slipway")


def wheel(place: Path) -> Path:
    """Make it, without the network, by the setuptools of this environment."""
    return _wheel_of(_copied(place), place)


def wheel_of_sources(place: Path) -> Path:
    """Make it from the archive of sources that is published, in a folder that has nothing else."""
    argv = [sys.executable, "-c", "from setuptools.build_meta import build_sdist; build_sdist('..')"]
    subprocess.run(argv, cwd=_copied(place), capture_output=True, text=True, check=True, timeout=300)
    (archive,) = place.glob("*.tar.gz")
    return _wheel_of(archive, place)


def _copied(place: Path) -> Path:
    source = place / "source"
    for folder in _FOLDERS:
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _FILES:
        shutil.copy(ROOT / name, source)
    return source


def _wheel_of(source: Path, place: Path) -> Path:
    argv = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    argv += ["--no-deps", "--no-build-isolation", "--no-index", f"--wheel-dir={place}", str(source)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)} ended with {done.returncode}: {done.stderr[-2000:]}")
    (created,) = place.glob("*.whl")
    return created


def top_levels(created: Path) -> set[str]:
    """What it puts at the top of site-packages, beside its metadata."""
    names = {name.partition("/")[0] for name in zipfile.ZipFile(created).namelist()}
    return {name for name in names if not re.fullmatch(r"slipway_jobs-.*\.dist-info", name)}
