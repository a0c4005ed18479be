"""Commands and a method that send files and messages to storage: every first answer is lost, once each.

`tests/unit/slipway/test_lost_answers.py` has all the others.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from slipway import AsyncClient
from tests.acceptance.door import Door, shell, unique
from tests.doubles.losing_proxy import LosingProxy, Loss

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Person:
    """A person whose network loses each first answer of the app and of storage."""

    def __init__(self, door: Door, folder: Path, app: LosingProxy, storage: list[LosingProxy]) -> None:
        self.door, self.folder, self.app, self.storage = door, folder, app, storage
        settings = dict(door.stack.settings)
        for proxy in storage:
            settings["SLIPWAY_STORAGE"] = settings["SLIPWAY_STORAGE"].replace(proxy.target, proxy.url)
        self.settings = folder / "settings.json"
        self.settings.write_text(json.dumps({"Values": settings}))

    async def slipway(self, *words: str, asks_app: bool = True) -> tuple[int | None, str, str]:
        """The exit code of a command, and what it printed."""
        address = ("--url", self.app.url, "--key", self.door.key) if asks_app else ()
        settings = () if words[0] == "run" else ("--settings", str(self.settings))
        command = await asyncio.create_subprocess_exec(
            *(*self.door.slipway, *words, *settings, *address),
            cwd=self.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await command.communicate()
        return command.returncode, out.decode(), err.decode()


@asynccontextmanager
async def person(door: Door, folder: Path, loss: Loss = "lost") -> AsyncIterator[Person]:
    string = door.stack.settings["SLIPWAY_STORAGE"]
    parts = dict(part.partition("=")[::2] for part in string.split(";") if part)
    async with AsyncExitStack() as running:
        storage = [LosingProxy(parts[f"{name}Endpoint"], loss) for name in ("Blob", "Queue", "Table")]
        app = LosingProxy(door.stack.host_url, loss)
        for proxy in (app, *storage):
            await running.enter_async_context(proxy.running())
        yield Person(door, folder, app, storage)
    assert any(count > 1 for proxy in storage for count in proxy.arrived.values())


@pytest.mark.parametrize("loss", ["lost", "unanswered"])
async def test_a_message_is_one_job_of_the_name_that_was_shown(
    loss: Loss, door: Door, tmp_path: Path
) -> None:
    (tmp_path / "job.json").write_text(json.dumps(shell("true")))

    async with person(door, tmp_path, loss) as someone:
        code, out, err = await someone.slipway("enqueue", "job.json", "--json", asks_app=False)
        _, blobs, queues, _ = someone.app, *someone.storage

    assert code == 0, err
    assert sum(count for this, count in queues.arrived.items() if this.startswith("POST")) == 2
    job = await door.ended(name=json.loads(out)["name"])
    assert [one["id"] for one in await door.jobs(door="queue", name=job["name"])] == [job["id"]]
    assert not blobs.arrived


class Holds(LosingProxy):
    """Cuts the connection of the upload that begins the job only when that job has ended."""

    def __init__(self, url: str, door: Door, name: str) -> None:
        super().__init__(url)
        self._door, self._name = door, name

    async def forwarded(self, request: web.BaseRequest, body: bytes) -> web.Response:
        answer = await super().forwarded(request, body)
        this = f"{request.method} {request.raw_path}"
        if this.startswith("PUT") and this.endswith("/job.json") and self.arrived[this] == 1:
            await self._door.ended(name=self._name)
        return answer


async def test_a_drop_whose_last_answer_is_lost_runs_once_though_it_is_repeated_after_the_end(
    door: Door, tmp_path: Path
) -> None:
    folder = tmp_path / unique("once")
    folder.mkdir()
    (folder / "job.json").write_text(json.dumps(shell("true")))

    async with person(door, tmp_path) as someone:
        blobs = Holds(door.stack.settings["SLIPWAY_STORAGE"], door, folder.name)
        blobs.target = someone.storage[0].target
        async with blobs.running():
            text = someone.settings.read_text().replace(someone.storage[0].url, blobs.url)
            someone.settings.write_text(text)
            code, out, err = await someone.slipway("drop", "--json", folder.name)
        someone.storage[0].arrived.update(blobs.arrived)

    assert code == 0, err
    (job,) = json.loads(out)["jobs"]
    await door.call("POST", "jobs", shell("true"))  # what was dropped before it has been looked at by then
    assert [one["id"] for one in await door.jobs(name=folder.name)] == [job["id"]]


async def test_run_and_data_do_everything_once(door: Door, tmp_path: Path) -> None:
    script = tmp_path / f"{unique('ran')}.py"
    script.write_text("print('here')\n")
    other = tmp_path / f"{unique('ran')}.py"
    other.write_text("print('there')\n")
    (tmp_path / "data.csv").write_text("1,2\n")

    async with person(door, tmp_path) as someone:
        ran, put = await asyncio.gather(
            someone.slipway("run", script.name), someone.slipway("data", "put", "data.csv", asks_app=False)
        )
        fetched = await someone.slipway("data", "get", "data.csv", "--to", "back", asks_app=False)
        listed = await someone.slipway("data", "ls", asks_app=False)
        job = await AsyncClient(someone.app.url, door.key).run(other)
        assert (await job.result()).state == "succeeded"

    assert (ran[0], "here" in ran[1]) == (0, True), ran
    assert (put[0], fetched[0], listed[0]) == (0, 0, 0), (put, fetched, listed)
    assert (tmp_path / "back/data.csv").read_text() == "1,2\n"
    for one in (script, other):
        assert len(await door.jobs(name=one.stem)) == 1
