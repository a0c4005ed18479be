"""What a person reads of a run that did not succeed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from slipway.client.service import Service
from slipway.commands.run.follow import report_failure
from slipway.commands.run.report import Report
from slipway.commands.run.run import finish
from slipway.failure import Failure
from tests.unit.slipway.client.wrote import Folder, Wrote


@pytest.mark.parametrize(
    ("members", "more"),
    [
        ({}, "slipway show j_1"),
        ({"engine": {}}, "slipway show j_1, slipway download j_1"),
        (
            {"engine": {}, "attempt": 3},
            "slipway show j_1, slipway log j_1 --attempt 2, slipway download j_1",
        ),
    ],
)
def test_a_run_that_failed_names_the_commands_that_show_more(
    members: dict[str, Any], more: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Report().failure({"id": "j_1", "state": "failed", "message": "exit code 3", "attempt": 1, **members}, ())
    assert capsys.readouterr().err == f"slipway: failed: exit code 3; more: {more}\n"


def test_what_helps_is_said_first(capsys: pytest.CaptureFixture[str]) -> None:
    failed = {"id": "j_1", "state": "failed", "message": "exit code 1", "remedy": "list it"}
    Report().failure(failed, ())
    assert capsys.readouterr().err.splitlines()[0] == "slipway: list it"


class Ended(Wrote):
    """A service whose job has ended, with these files in each of its output directories."""

    def __init__(self, files: dict[str, Folder], state: str = "failed") -> None:
        super().__init__({})
        self.trees = files
        self.record: dict[str, Any] = {"id": "j_1", "name": "n", "state": state, "message": "exit code 3"}
        self.record |= {"exitCode": 3, "engine": {}, "history": []}
        self.refusal: Failure | None = None

    async def job(self, job_id: str) -> Any:
        return self.record

    async def outputs(self, job_id: str) -> list[str]:
        if self.refusal:
            raise self.refusal
        return [*self.trees]

    async def results(self, job_id: str) -> list[str]:
        return await self.outputs(job_id)

    async def files(self, job_id: str, directory: str, path: str = ".") -> list[dict[str, Any]]:
        self.root = self.trees[directory]
        return await super().files(job_id, directory, path)

    async def content(self, job_id: str, directory: str, *rest: Any, **more: Any) -> Any:
        self.root = self.trees[directory]
        return await super().content(job_id, directory, *rest, **more)

    async def errors(self, job_id: str) -> Any:
        return {"files": [], "more": 0}


def service_of(files: dict[str, Folder], state: str = "failed") -> Any:
    return Ended({"stdouterr": {}, **files}, state)


@pytest.mark.parametrize(
    ("model", "what"),
    [
        ({"a.pt": b"1", "best": {}}, "MODEL has a.pt, best"),
        ({f"{n}.pt": b"1" for n in range(5)}, "MODEL has 0.pt, 1.pt, 2.pt and 2 more"),
        ({"a\x1b[2J": b"1"}, "MODEL has a\\x1b[2J"),
        ({}, "its logs: it wrote nothing else"),
    ],
)
async def test_what_a_job_left_that_failed_is_named_with_the_command_that_fetches_it(
    model: Folder, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    api: Service = service_of({"MODEL": model})

    await report_failure(api, await api.job("j_1"), Report())

    assert f"slipway download j_1 ({what})" in capsys.readouterr().err


async def test_a_program_reads_what_was_left_out_of_a_download_with_all_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api = service_of({"MODEL": {"a.pt": b"123", **{f"link-{n:02}": None for n in range(12)}}})

    await finish(api, "j_1", tmp_path / "out", Report(as_json=True))

    download = json.loads(capsys.readouterr().out.splitlines()[-1])["download"]
    reason = "it is a link that leads out of the job's folder"
    assert download["leftOut"] == [{"name": f"MODEL/link-{n:02}", "reason": reason} for n in range(12)]
    assert download["failed"] == []


@pytest.mark.parametrize("state", ["failed", "cancelled", "lost"])
@pytest.mark.parametrize("as_json", [False, True])
async def test_a_run_fetches_what_was_asked_for_also_of_a_job_that_failed(
    state: str, as_json: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api = service_of({"MODEL": {"a.pt": b"123"}}, state)
    to = tmp_path / "out"

    code = await finish(api, "j_1", to, Report(as_json))

    assert code == (1 if as_json else 3)
    assert await asyncio.to_thread((to / "MODEL/a.pt").read_bytes) == b"123"
    shown = capsys.readouterr()
    if as_json:
        end = json.loads(shown.out.splitlines()[-1])
        assert (end["event"], end["state"], end["download"]["saved"]) == ("end", state, 1)
    else:
        assert f"1 file, 3 bytes, in {to}" in shown.err
        assert shown.err.splitlines()[-1] == f"slipway: {state}: exit code 3; more: slipway show j_1"


async def test_nothing_is_fetched_of_a_job_that_failed_unless_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert await finish(service_of({"MODEL": {"a.pt": b"123"}}), "j_1", None, Report()) == 3
    assert [*await asyncio.to_thread(lambda: list(tmp_path.iterdir()))] == []


async def test_files_that_cannot_be_fetched_do_not_hide_how_the_job_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api = service_of({"MODEL": {"a.pt": b"123"}})
    api.refusal = Failure("the share does not answer")

    assert await finish(api, "j_1", tmp_path / "out", Report()) == 3

    shown = capsys.readouterr().err
    assert "the share does not answer" in shown
    assert "the files stay with the job: slipway download j_1" in shown
    assert "slipway: failed: exit code 3" in shown
