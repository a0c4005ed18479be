"""The client for Python over the wire: one implementation, awaited or not."""

from __future__ import annotations

import asyncio
import inspect
import io
from pathlib import Path
from typing import Any, ClassVar

import pytest
from aiohttp import web

import slipway
from shared.answers.job import JobDetail
from slipway import AsyncClient, AsyncJob, AsyncSweep, Client, Failure, Job, JobFailed, Sweep
from tests.doubles.server import answering, as_slipway

ID = "j_aaaaaaaaaaaaaaaaaaaaaaaa"
JOB: dict[str, Any] = {
    "id": ID, "name": "train", "door": "http", "state": "failed", "message": "exit code 3", "exitCode": 3,
    "attempt": 1, "createdAt": "2026-01-01T12:00:00Z", "receipt": "runs/x/receipt.json", "generation": 1,
    "engine": {"engine": "memory", "cluster": "dev", "experiment": "e", "name": "n"},
    "history": [{"sequence": 1, "state": "failed", "at": "2026-01-01T12:00:00Z", "attempt": 1}],
    "a member of a newer version": 1,
}  # fmt: skip
LINES = b"Traceback\nValueError: no data\n"
ENDS = {"files": [{"file": "stderr.txt", "lines": LINES.decode().splitlines()}], "more": 0}


def api(job: dict[str, Any]) -> Any:
    async def answer(request: web.Request) -> web.StreamResponse:
        path = request.path.removeprefix("/api/jobs").removeprefix(f"/{ID}")
        if request.method == "POST" or path in ("", "/cancel"):
            listed = request.method == "GET" and request.path == "/api/jobs"
            return web.json_response({"jobs": [job], "next": None} if listed else job)
        if path == "/outputs":
            return web.json_response({"outputs": [{"id": "stdouterr"}]})
        if path == "/errors":
            return web.json_response(ENDS)
        if path == "/files":
            entry = {"name": "stderr.txt", "bytes": len(LINES), "modified": "2026-01-01T12:00:00+00:00"}
            return web.json_response({"files": [entry]})
        return web.Response(body=LINES)

    return answer


def test_a_notebook_completes_the_public_names() -> None:
    assert {*slipway.__all__} <= {*dir(slipway)}


async def test_a_result_that_is_none_says_how_the_job_ended() -> None:
    async with answering(as_slipway(api(JOB))) as url:
        job = await AsyncClient(url).job(ID)
        with pytest.raises(JobFailed) as failed:
            await job.result()

    assert str(failed.value).startswith(f"{ID} failed: exit code 3\n")
    assert "ValueError: no data" in str(failed.value)
    assert failed.value.job.exit_code == 3
    assert isinstance(failed.value, Failure)


async def test_a_download_of_which_no_file_fits_is_a_failure(tmp_path: Path) -> None:
    async with answering(as_slipway(api(JOB))) as url:
        job = await AsyncClient(url).job(ID)
        with pytest.raises(Failure, match="no file fits modle; list them"):
            await job.download("modle", to=tmp_path)


async def test_without_await_it_does_the_same_also_while_a_loop_runs() -> None:
    def work(url: str) -> tuple[Any, ...]:
        client = Client(url)
        (job,) = client.jobs(state="failed")
        with pytest.raises(JobFailed):
            job.result()
        return (
            job,
            client.submit({}).id,
            job.wait().state,
            [file.name for file in job.files()],
            job.cancel().state,
            job.rerun(idempotency_key="k").id,
        )

    async with answering(as_slipway(api(JOB))) as url:
        job, *result = await asyncio.to_thread(work, url)

    assert repr(job) == f"Job('{ID}', name='train', state='failed')"
    assert result == [ID, "failed", ["stdouterr/stderr.txt"], "failed", ID]


async def test_a_success_is_its_record_and_files_are_saved(tmp_path: Any) -> None:
    async with answering(as_slipway(api({**JOB, "state": "succeeded"}))) as url:
        job = await AsyncClient(url).job("train")
        assert (await job.result()).name == "train"
        place = await job.download(to=tmp_path / "out")

    assert (place / "stdouterr" / "stderr.txt").read_bytes() == LINES


async def test_a_log_has_the_options_of_the_command() -> None:
    logs = {"stdout-0.txt": b"zero\none\n", "stdout-1.txt": b"two\nthree\nfour\n"}

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/files"):
            entries = [{"name": name, "bytes": len(data), "modified": None} for name, data in logs.items()]
            return web.json_response({"files": entries})
        if request.path.endswith("/log"):
            data = logs[request.query["file"]][int(request.query["offset"]) :]
            end = int(request.query["offset"]) + len(data)
            headers = {"Slipway-More": "false", "Slipway-Next-Offset": str(end)}
            return web.Response(body=data, headers=headers)
        if "/files/" in request.path:
            return web.Response(body=logs[request.path.rpartition("/")[2]])
        return web.json_response({**JOB, "state": "succeeded"})

    async with answering(as_slipway(answer)) as url:
        job = AsyncJob(ID, url, "")
        shown: list[str] = []
        for options in ({}, {"rank": 0}, {"rank": "1", "tail": 2}, {"grep": "o$"}):
            stream = io.StringIO()
            await job.log(to=stream, **options)
            shown.append(stream.getvalue())
        stream = io.StringIO()
        await job.log(rank=0, timestamps=True, follow=True, to=stream)

    assert shown[0].splitlines() == ["0 | zero", "0 | one", "1 | two", "1 | three", "1 | four"]
    assert shown[1:3] == ["zero\none\n", "three\nfour\n"]
    assert shown[3].splitlines() == ["0 | zero", "1 | two"]
    assert [line.partition(" ")[2] for line in stream.getvalue().splitlines()] == ["zero", "one"]


@pytest.mark.parametrize(
    "options", [{"grep": "("}, {"timestamps": True}, {"tail": -1}, {"file": "stderr.txt", "rank": 0}]
)
async def test_options_of_a_log_that_cannot_be_meant_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(Failure):
        await AsyncJob(ID, "http://127.0.0.1:1", "").log(**options)


async def test_an_answer_that_is_no_job_is_a_failure() -> None:
    async with answering(as_slipway(api({"id": ID}))) as url:
        with pytest.raises(Failure, match="of another version"):
            await AsyncJob(ID, url, "").details()


def test_both_have_the_same_methods_with_the_same_words() -> None:
    for one, other in ((Client, AsyncClient), (Job, AsyncJob), (Sweep, AsyncSweep)):
        public = {name for name in vars(other) if not name.startswith("_")}
        assert {name for name in vars(one) if not name.startswith("_")} == public
        for name in public:
            method, twin = getattr(one, name), getattr(other, name)
            assert method.__doc__ == twin.__doc__
            assert inspect.signature(method).parameters == inspect.signature(twin).parameters


async def test_a_wait_ends_after_the_seconds_that_were_given_and_the_job_goes_on() -> None:
    sweep, message = f"s_{'a' * 24}", r"no end of {} was seen within 0\.01 seconds; it was not cancelled"

    async def active(request: web.Request) -> web.StreamResponse:
        return web.json_response({"state": "running" if "/jobs/" in request.path else "active"})

    def work(url: str) -> None:
        with pytest.raises(TimeoutError, match=message.format(ID)):
            Job(AsyncJob(ID, url, "")).wait(timeout=0.01)
        with pytest.raises(TimeoutError, match=message.format(sweep)):
            Sweep(AsyncSweep(sweep, url, "")).wait(timeout=0.01)

    async with answering(as_slipway(active)) as url:
        with pytest.raises(TimeoutError, match=message.format(ID)):
            await AsyncJob(ID, url, "").result(timeout=0.01)
        await asyncio.to_thread(work, url)


def test_a_sweep_is_no_job_and_the_refusal_names_the_method_for_it() -> None:
    with pytest.raises(Failure, match=r"submit_sweep\(\)"):
        Client("http://127.0.0.1:1").submit({"sweep": {"lr": [0.1]}, "spec": {}})


def test_help_shows_what_each_method_returns_without_await() -> None:
    for name in ("run", "submit", "job"):
        method = getattr(Client, name)
        assert inspect.signature(method).return_annotation is Job
        assert method.__annotations__["return"] is Job
        assert not inspect.iscoroutinefunction(method)
    assert inspect.signature(Job.wait).return_annotation is JobDetail


async def test_a_notebook_shows_the_name_and_the_state_of_a_job() -> None:
    states = ["running", "succeeded"]

    async def changing(request: web.Request) -> web.Response:
        if not states:
            return web.json_response({"status": 404, "detail": "there is no job"}, status=404)
        return web.json_response({**JOB, "state": states.pop(0)})

    class Printer:
        texts: ClassVar[list[str]] = []

        def text(self, text: str) -> None:
            self.texts.append(text)

    def work(job: Job) -> None:
        job._repr_pretty_(Printer(), cycle=False)

    async with answering(as_slipway(changing)) as url:
        job = await asyncio.to_thread(lambda: Client(url).job(ID))
        assert repr(job) == f"Job('{ID}')", "it was not asked yet, and a repr asks nobody"
        for _ in range(3):
            await asyncio.to_thread(work, job)
    shown = [f"Job('{ID}', name='train', state='{state}')" for state in ("running", "succeeded", "succeeded")]
    assert Printer.texts == shown


def test_no_key_is_in_a_repr() -> None:
    assert "secret" not in repr(AsyncJob(ID, "https://x", "secret")) + repr(
        AsyncClient("https://x", "secret")
    )


def test_the_names_are_imported_when_they_are_asked_for() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = slipway.nothing
    assert all(getattr(slipway, name) for name in slipway.__all__)


@pytest.mark.parametrize("name", ["last", "j_other"])
async def test_a_job_whose_name_means_another_is_warned_of(name: str) -> None:
    async with answering(as_slipway(api({**JOB, "name": name}))) as url:
        with pytest.warns(UserWarning, match=f"(id of this one|this one's own): {ID}"):
            await AsyncClient(url).submit({"spec": {}})


async def test_a_sweep_whose_name_means_another_is_warned_of() -> None:
    sweep = "s_aaaaaaaaaaaaaaaaaaaaaaaa"

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response({"sweepId": sweep, "name": "last"})

    async with answering(as_slipway(answer)) as url:
        with pytest.warns(UserWarning, match=f"the id of this one: {sweep}"):
            await AsyncClient(url).submit_sweep({"sweep": {"lr": [1]}})


async def _awaited(url: str) -> None:
    await AsyncClient(url).submit({"spec": {}})


def _blocked(url: str) -> None:
    Client(url).submit({"spec": {}})


@pytest.mark.parametrize("awaited", [True, False])
async def test_a_warning_names_the_line_that_called_the_client(awaited: bool) -> None:
    async with answering(as_slipway(api({**JOB, "name": "last"}))) as url:
        with pytest.warns(UserWarning, match="the id of this one") as warned:
            await (_awaited(url) if awaited else asyncio.to_thread(_blocked, url))

    called = _awaited if awaited else _blocked
    assert (warned[0].filename, warned[0].lineno) == (__file__, called.__code__.co_firstlineno + 1)
