"""What the program on the nodes wrote, where this app sees the same file system: results, logs, outputs."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.site import records
from shared.errors import NotFound, Transient
from shared.job import Target
from shared.ports import LogChunk, OutputFile

Record = Mapping[str, Any]
#: Bytes of a record; ours have some hundred.
_LARGEST = 1 << 20


class Records:
    """The records of one cluster's attempts. A job can write them: they are trusted as its exit code is."""

    def __init__(self, cluster: SlurmCluster) -> None:
        self._cluster = cluster

    async def of(self, target: Target) -> Record | None:
        """The record of the run that has the claim; None while there is none that can be seen."""
        return await asyncio.to_thread(self._read, target)

    async def files(self, target: Target, directory: str, path: str) -> tuple[OutputFile, ...]:
        """The entries of an output directory. Raises NotFound."""
        return await asyncio.to_thread(self._list, target, directory, path)

    async def log(self, target: Target, file: str, offset: int, limit: int) -> LogChunk:
        """Part of a file of `stdouterr`. Raises NotFound."""
        return await asyncio.to_thread(self._chunk, target, file, offset, limit)

    def _read(self, target: Target) -> Record | None:
        place = self._here(records(self._cluster, target.experiment, target.name))
        if place is None:
            return None
        claim = _object(place / "claim.json")
        if claim is None or claim.get("token") != target.token:
            return None
        run = claim.get("run")
        return _object(place / run / "result.json") if isinstance(run, str) and "/" not in run else None

    def _list(self, target: Target, directory: str, path: str) -> tuple[OutputFile, ...]:
        root, folder = self._within(target, directory, path)
        if not folder.is_dir():
            return ()
        # A link that leads out of the directory is no output.
        entries = [entry for entry in sorted(folder.iterdir()) if entry.resolve().is_relative_to(root)]
        return tuple(_file(entry) for entry in entries if entry.exists())

    def _chunk(self, target: Target, name: str, offset: int, limit: int) -> LogChunk:
        _, file = self._within(target, "stdouterr", name)
        if not file.is_file():
            raise NotFound(f"there is no {name} yet")
        try:
            with file.open("rb") as stream:
                stream.seek(offset)
                data = stream.read(limit)
        except OSError as error:
            raise Transient(f"{name} cannot be read: {error.strerror}") from error
        return LogChunk(data, offset + len(data))

    def _within(self, target: Target, directory: str, path: str) -> tuple[Path, Path]:
        """An output directory, and a path in it, as they really are. Raises NotFound."""
        record = self._read(target)
        if record is None:
            if self._here(self._cluster.shared) is None:
                text = f"the files of {self._cluster.name} cannot be seen from here; an operator adds `reads`"
                raise NotFound(text)
            raise NotFound("no node has begun with the job yet")
        written = (record.get("directories") or {}).get(directory)
        place = self._here(str(written)) if written else None
        if place is None:
            raise NotFound(f"there is no output directory {directory!r} that can be seen from here")
        root = place.resolve()
        found = (root / path).resolve()
        if not found.is_relative_to(root):
            raise NotFound(f"{path!r} lies outside of the directory")
        return root, found

    def _here(self, path: str) -> Path | None:
        """Where this app sees a path of the nodes."""
        there = Path(path)
        for prefix, place in self._cluster.reads.items():
            if there.is_relative_to(prefix) and ".." not in there.parts:
                return Path(place, there.relative_to(prefix))
        return None


def _file(entry: Path) -> OutputFile:
    stat = entry.stat()
    size = None if entry.is_dir() else stat.st_size
    return OutputFile(entry.name, size, datetime.fromtimestamp(stat.st_mtime, UTC))


def _object(path: Path) -> Record | None:
    """A JSON object; None if there is none. Raises Transient if it cannot be known."""
    try:
        found = json.loads(_content(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise Transient(f"{path.name} of the attempt cannot be read: {type(error).__name__}") from error
    return found if isinstance(found, dict) else None


def _content(path: Path) -> bytes:
    """A file; a pipe or a device that a job put in its place would hold its reader for ever."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        content = file.read(_LARGEST + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    if len(content) > _LARGEST:
        raise ValueError(f"more than {_LARGEST} bytes")
    return content
