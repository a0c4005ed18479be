"""A deployment whose jobs write event files, and a reader that keeps them open, as TensorBoard's does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from slipway.client.calls.answers import FileChunk, FilePage, Listed
from slipway.client.calls.refusal import Changed
from slipway.client.service import Service

#: A file of a job: its bytes, and a number that changes with it.
Files = dict[str, bytes]
#: Ids of jobs.
ONE, TWO, THREE = ("j_" + letter * 24 for letter in "abc")
SWEEP = "s_" + "d" * 24


def points(first: int, last: int, run: str = "a") -> bytes:
    """Points of a curve, each in as many bytes."""
    return b"".join(f"{run} step {n:010} loss {1 / (n + 1):20.18f}\n".encode() for n in range(first, last))


class Deployment(Service):
    """Jobs with their states and files, by attempt, and how often each operation was called."""

    def __init__(self) -> None:
        self.records = dict[str, dict[str, Any]]()
        self.written = dict[tuple[str, int], Files]()
        self.calls = list[str]()
        #: raised in place of the next answers with content
        self.troubles = list[Exception]()
        self.sweep_state = "active"
        self._version = 0

    def add(self, job: str, state: str = "running", name: str = "train", **more: Any) -> Files:
        """A job, and its files in its current attempt."""
        self.records[job] = {"id": job, "name": name, "state": state, "attempt": 1} | more
        return self.written.setdefault((job, self.records[job]["attempt"]), {})

    def _files(self, job: str) -> Files:
        return self.written.get((job, self.attempt or self.records[job]["attempt"]), {})

    async def job(self, job_id: str) -> Any:
        self.calls.append("job")
        return dict(self.records[job_id])

    async def jobs(self, conditions: Mapping[str, str] | None = None, limit: int = 50) -> Listed:
        self.calls.append("jobs")
        return Listed([dict(one) for one in self.records.values()], None)

    async def sweep(self, sweep_id: str) -> Any:
        self.calls.append("sweep")
        return {"sweepId": sweep_id, "state": self.sweep_state}

    async def outputs(self, job_id: str) -> list[str]:
        self.calls.append("outputs")
        return sorted({name.partition("/")[0] for name in self._files(job_id)} | {"MODEL", "stdouterr"})

    async def results(self, job_id: str) -> list[str]:
        return await self.outputs(job_id)

    async def files_page(self, job_id: str, directory: str, path: str, after: str = "") -> FilePage:
        self.calls.append("files")
        folder = f"{directory}/{path}/".replace("/./", "/")
        names = {
            name.removeprefix(folder).partition("/")[::2]: content
            for name, content in sorted(self._files(job_id).items())
            if name.startswith(folder)
        }
        entries = {
            first: {
                "name": first,
                "bytes": None if rest else len(content),
                "modified": f"2026-11-20T10:00:{hash(content) % 60:02}+00:00",
            }
            for (first, rest), content in names.items()
        }
        return FilePage([*entries.values()], "")

    async def content(
        self, job_id: str, directory: str, path: str, first: int = 0, last: int | None = None, tag: str = ""
    ) -> FileChunk:
        self.calls.append("content")
        if self.troubles:
            raise self.troubles.pop(0)
        content = self._files(job_id)[f"{directory}/{path}"]
        if first >= len(content):
            raise Changed(f"the file has {len(content)} bytes, none of them in this range")
        return FileChunk(content[first : len(content) if last is None else last + 1], len(content), "")


class Board:
    """Reads event files as TensorBoard's default loader does: opens each once, and goes on where it was."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._open = directory, dict[Path, BinaryIO]()
        self.lines = dict[str, list[bytes]]()

    def read(self) -> dict[str, bytes]:
        """Everything that was seen so far, by folder."""
        for path in sorted(self._directory.rglob("*tfevents*")):
            if path not in self._open:
                self._open[path] = path.open("rb")
            run = path.parent.relative_to(self._directory).as_posix()
            self.lines.setdefault(run, []).append(self._open[path].read())
        return {run: b"".join(parts) for run, parts in self.lines.items()}

    def close(self) -> None:
        """Let the files go."""
        for stream in self._open.values():
            stream.close()
