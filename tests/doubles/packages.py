"""Packages without an index: wheels, and a project that builds itself."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

#: A backend of a build (PEP 517, PEP 660) that needs no other package.
_BACKEND = """\
import os, zipfile

def _build(directory, files):
    with zipfile.ZipFile(os.path.join(directory, "{name}-1.0-py3-none-any.whl"), "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        info = "{name}-1.0.dist-info"
        archive.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n")
        archive.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(info + "/RECORD", "")
    return "{name}-1.0-py3-none-any.whl"

def build_wheel(directory, config=None, metadata=None):
    return _build(directory, {{"{name}.py": open("{name}.py").read()}})

def build_editable(directory, config=None, metadata=None):
    return _build(directory, {{"{name}.pth": os.getcwd()}})
"""


def wheel(folder: Path, name: str, text: str = "", version: str = "1.0") -> Path:
    """A wheel of one module, whose `main` is a command of the same name if it has one."""
    info = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", text)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        if "def main" in text:
            archive.writestr(f"{info}/entry_points.txt", f"[console_scripts]\n{name} = {name}:main\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def project(folder: Path, name: str, text: str) -> None:
    """A folder with one module, which pip can install without any other package."""
    folder.mkdir(parents=True)
    (folder / f"{name}.py").write_text(text)
    (folder / "backend.py").write_text(_BACKEND.format(name=name))
    (folder / "pyproject.toml").write_text(
        f'[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        f'[project]\nname = "{name}"\nversion = "1.0"\n'
    )


def sdist(index: Path, name: str, variable: str) -> None:
    """A package of an index that is built where it is installed; its module has the value of a variable."""
    folder = index / name
    folder.mkdir(parents=True, exist_ok=True)
    backend = _BACKEND.format(name=name).replace(
        f'open("{name}.py").read()', f'"{variable} = " + repr(os.environ.get("{variable}"))'
    )
    files = {
        "backend.py": backend,
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    }
    with tarfile.open(folder / f"{name}-1.0.tar.gz", "w:gz") as archive:
        for file, text in files.items():
            entry = tarfile.TarInfo(f"{name}-1.0/{file}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    (folder / "index.html").write_text(f'<a href="{name}-1.0.tar.gz">{name}-1.0.tar.gz</a>')
