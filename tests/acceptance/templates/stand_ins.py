"""Small packages that stand for large ones, or for an index, on nodes without either."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.acceptance.door import Door


def wheel(folder: Path, name: str, files: Mapping[str, str]) -> Path:
    """A pure wheel of a package."""
    info = f"{name}-1.0.dist-info"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def pythons(door: Door) -> list[Path]:
    """The environments of the clusters' nodes, which their first job makes."""
    folders = [python.parents[1] for python in door.stack.logs.parent.glob("batchai/python/*/bin/python")]
    assert folders
    return folders


@contextmanager
def only_wheels_of(folder: Path, door: Door) -> Iterator[None]:
    """Let pip on the nodes find the wheels of a folder, and no index."""
    files = [python / "pip.conf" for python in pythons(door)]
    for file in files:
        file.write_text(f"[global]\nno-index = true\nfind-links = {folder}\n")
    yield
    for file in files:
        file.unlink()
