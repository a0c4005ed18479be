"""Writes a folder to begin with, beside what is there."""

from collections.abc import Mapping
from pathlib import Path

from slipway.failure import Failure


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files. Raises Failure, before anything is written, if there is another one of a name."""
    contents = {folder / name: text for name, text in files.items()}
    for path, text in contents.items():
        if (path.exists() or path.is_symlink()) and not _is_same(path, text):
            raise Failure(f"{path} exists already; name another folder with --to")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in contents.items():
        if not path.exists():
            path.write_text(text, encoding="utf-8")


def _is_same(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode()
    except OSError:
        return False
