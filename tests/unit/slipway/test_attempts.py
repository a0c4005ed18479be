"""The files and the log of an earlier attempt, by every command and every method that reads them."""

from __future__ import annotations

import asyncio
import inspect
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from shared.core.job import JobState, Reason
from slipway import Client, Failure, Job
from slipway.cli_page import commands
from slipway.main import app
from tests.unit.functions.calls import use
from tests.unit.slipway.lossy import losing
from tests.unit.world import World, job_json

#: Commands with --attempt, as a person writes them; they show how large, or what, its standard error is.
COMMANDS = {
    "cat": "cat JOB stderr.txt",
    "download": "download JOB --to FOLDER",
    "files": "files JOB",
    "log": "log JOB --stderr",
    "metrics": "metrics JOB",
}
Method = Callable[[Job, Path, int], Any]


def _logged(job: Job, _: Path, attempt: int) -> str:
    stream = io.StringIO()
    job.log(to=stream, attempt=attempt)
    return stream.getvalue()


def _saved(job: Job, folder: Path, attempt: int) -> str:
    return (job.download(to=folder, attempt=attempt) / "stdouterr" / "stderr.txt").read_text()


METHODS: dict[str, Method] = {
    "curves": lambda job, _, attempt: str(job.curves(attempt=attempt)),
    "download": _saved,
    "files": lambda job, _, attempt: " ".join(str(one.size) for one in job.files(attempt=attempt)),
    "log": _logged,
    "metrics": lambda job, _, attempt: str(job.metrics(attempt=attempt)),
}
#: Standard error of each attempt, of which each has another size.
TEXTS = ["one\n", "second\n"]


def _names(text: str, attempt: int) -> bool:
    """Whether it shows that attempt, and not the other."""
    this, other = (TEXTS[number] for number in (attempt - 1, 2 - attempt))
    return (this in text or str(len(this)) in text) and other not in text


def _written(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.rglob("stderr.txt"))


def _listed(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def failed_twice(world: World) -> str:
    """A job whose two attempts failed."""
    job = (await world.message({"spec": job_json(), "retry": {"user": 1}})).job.id
    for text in TEXTS:
        name = world.engine.started[-1]
        measured = json.dumps({"slipway": {"step": 1, "length": len(text)}}) + "\n"
        world.engine.outputs[name] = {"stderr.txt": text.encode(), "stdout.txt": measured.encode()}
        world.engine.set_state(name, JobState.FAILED, reason=Reason.USER, exit_code=3)
        await world.make_pass(3600)
        await world.make_pass(3600)
    assert (await world.job(job)).state is JobState.FAILED
    return job


@pytest.fixture
async def job(world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    use(world, monkeypatch)
    return await failed_twice(world)


def test_every_command_that_has_the_option_is_tried() -> None:
    options = {name: {o for one in command.params for o in one.opts} for name, command in commands().items()}
    assert {name for name, names in options.items() if "--attempt" in names} == set(COMMANDS)
    methods = {
        name
        for name, method in inspect.getmembers(Job, callable)
        if not name.startswith("_") and "attempt" in inspect.signature(method).parameters
    }
    assert methods == set(METHODS)


@pytest.mark.parametrize("attempt", [0, 1, 2, 3])
@pytest.mark.parametrize("name", COMMANDS)
async def test_a_command_shows_the_attempt_that_is_asked_for(
    name: str, attempt: int, job: str, tmp_path: Path
) -> None:
    words = COMMANDS[name].replace("JOB", job).replace("FOLDER", str(tmp_path)).split()
    async with losing("") as (url, _):
        line = [*words, "--url", url, *(["--attempt", str(attempt)] if attempt else [])]
        ran = await asyncio.to_thread(CliRunner().invoke, app, line)
    if attempt > len(TEXTS):
        assert "the job has had 2 attempts" in str(ran.exception)
        return
    assert ran.exit_code == 0, ran.output
    assert _names(ran.stdout + _written(tmp_path), attempt or 2), ran.stdout


@pytest.mark.parametrize("attempt", [0, 1, 2, 3])
@pytest.mark.parametrize("name", METHODS)
async def test_a_method_reads_the_attempt_that_is_asked_for(
    name: str, attempt: int, job: str, tmp_path: Path
) -> None:
    async with losing("") as (url, _):
        one = Client(url).job

        def call() -> str:
            return str(METHODS[name](one(job), tmp_path, attempt))

        if attempt > len(TEXTS):
            with pytest.raises(Failure, match="the job has had 2 attempts"):
                await asyncio.to_thread(call)
            return
        text = await asyncio.to_thread(call)
    assert _names(text, attempt or 2), text


async def test_without_a_directory_each_attempt_gets_its_own(
    job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with losing("") as (url, _):
        for more in ([], ["--attempt", "1"]):
            line = ["download", job, "--url", url, *more]
            assert (await asyncio.to_thread(CliRunner().invoke, app, line)).exit_code == 0
    assert _listed(tmp_path) == {job, f"{job}-attempt-1"}
