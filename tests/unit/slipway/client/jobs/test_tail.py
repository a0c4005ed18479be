"""The last lines of a failed job, beside its record."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.client.calls.refusal import Absent
from slipway.client.jobs.tail import last_errors
from slipway.client.service import Service

FAILED = {"id": "j_1", "state": "failed", "engine": {"engine": "x"}}


class Wrote(Service):
    def __init__(self, answer: dict[str, Any] | Exception) -> None:
        self._document = answer

    async def errors(self, job_id: str) -> Any:
        if isinstance(self._document, Exception):
            raise self._document
        return self._document


def ends(*names: str, more: int = 0) -> dict[str, Any]:
    return {"files": [{"file": name, "lines": ["first", "last \x1b[2J"]} for name in names], "more": more}


async def test_the_end_of_each_process_is_shown_and_moves_no_cursor() -> None:
    lines = await last_errors(Wrote(ends("stderr.txt", "stderr\x1b1.txt")), FAILED)

    assert lines == [
        "",
        "the end of stderr.txt:",
        "  first",
        "  last \\x1b[2J",
        "",
        "the end of stderr\\x1b1.txt:",
        "  first",
        "  last \\x1b[2J",
    ]


async def test_what_is_not_shown_is_counted() -> None:
    assert (await last_errors(Wrote(ends(more=12)), FAILED))[-1] == "and 12 more: slipway files j_1"


@pytest.mark.parametrize(
    "job",
    [{**FAILED, "state": "succeeded"}, {**FAILED, "state": "running"}, {"id": "j_1", "state": "failed"}],
)
async def test_of_other_jobs_nothing_is_read(job: dict[str, Any]) -> None:
    assert await last_errors(Wrote(ends("stderr.txt")), job) == []


@pytest.mark.parametrize(
    "answer", [Absent("there are none"), {}, {"files": None}, {"files": [{}], "more": 0}]
)
async def test_what_cannot_be_read_spoils_no_record(answer: dict[str, Any] | Exception) -> None:
    assert await last_errors(Wrote(answer), FAILED) == []
