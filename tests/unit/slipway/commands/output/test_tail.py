"""The last lines of a failed job, beside its record."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.client.answers import FileChunk
from slipway.client.refusal import Absent
from slipway.client.service import Service
from slipway.commands.output.tail import last_errors
from slipway.failure import Failure

FAILED = {"id": "j_1", "state": "failed", "engine": {"engine": "x"}}


class Wrote(Service):
    def __init__(self, **files: bytes) -> None:
        self.written = {name.replace("_", "."): data for name, data in files.items()}

    async def files(self, job_id: str, directory: str, path: str = ".") -> list[dict[str, Any]]:
        return [{"name": name, "bytes": len(data)} for name, data in self.written.items()]

    async def content(
        self, job_id: str, directory: str, path: str, first: int = 0, last: int | None = None, tag: str = ""
    ) -> FileChunk:
        return FileChunk(self.written[path][first:], len(self.written[path]), "")


async def test_the_end_of_each_process_is_shown_and_moves_no_cursor() -> None:
    api = Wrote(
        stdout_txt=b"out",
        stderr_txt=b"x" * 9000 + b"\nlast \x1b[2J\n",
        stderr1_txt=b"second",
        stderr2_txt=b"",
    )

    lines = await last_errors(api, FAILED)

    assert [line for line in lines if line.startswith("the end")] == [
        "the end of stderr.txt:",
        "the end of stderr1.txt:",
    ]
    assert lines[3] == "  last \\x1b[2J"
    assert lines[-1] == "  second"


async def test_few_files_are_read_of_many() -> None:
    lines = await last_errors(Wrote(**{f"stderr{n:02}_txt": b"e" for n in range(20)}), FAILED)
    assert lines[-1] == "and 12 more: slipway files j_1"


@pytest.mark.parametrize(
    "job",
    [{**FAILED, "state": "succeeded"}, {**FAILED, "state": "running"}, {"id": "j_1", "state": "failed"}],
)
async def test_of_other_jobs_nothing_is_read(job: dict[str, Any]) -> None:
    assert await last_errors(Wrote(stderr_txt=b"e"), job) == []


async def test_files_that_cannot_be_read_spoil_no_record() -> None:
    class NoFiles(Wrote):
        async def files(self, job_id: str, directory: str, path: str = ".") -> list[dict[str, Any]]:
            raise Absent("there are none")

    assert await last_errors(NoFiles(), FAILED) == []


async def test_one_file_that_cannot_be_read_hides_no_other() -> None:
    class Odd(Wrote):
        async def content(
            self,
            job_id: str,
            directory: str,
            path: str,
            first: int = 0,
            last: int | None = None,
            tag: str = "",
        ) -> FileChunk:
            if path == "stderr0.txt":
                raise Failure("the path leads out of the output directory")
            return await super().content(job_id, directory, path, first, last, tag)

    lines = await last_errors(Odd(stderr0_txt=b"lost", stderr1_txt=b"why"), FAILED)
    assert lines == ["", "the end of stderr1.txt:", "  why"]
