"""The skill is right, short, and enough: a program that knows only it goes from a folder to a receipt."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import sys
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from shared.core.cost.prices import prices_from
from shared.core.job import JobState
from slipway.commands.skill.skill import text
from slipway.failure import INTERNAL, KINDS, OVER_LIMIT, UNSUCCESSFUL
from slipway.main import main
from tests.unit.documents.test_commands import _wrong
from tests.unit.functions.calls import use
from tests.unit.slipway.client.request.test_cost import Closed
from tests.unit.slipway.lossy import Loss, losing
from tests.unit.world import World, job_json

SKILL = text()
#: The commands in their order, as the skill shows them.
STEPS = [line.strip() for block in re.findall(r"```sh\n(.*?)```", SKILL, re.S) for line in block.splitlines()]
STEPS = [line for line in STEPS if line]
#: What a model reads of a text: about a token for four characters.
CHARACTERS_OF_A_TOKEN = 4


class Called(NamedTuple):
    """What a call has printed, and its exit code."""

    out: str
    code: int


def test_every_command_of_it_exists() -> None:
    spans = re.findall(r"`slipway ([^`]+)`", SKILL)
    calls = [line.removeprefix("slipway ") for line in STEPS] + spans

    assert len(calls) > 14
    assert [(call, _wrong(call)) for call in calls if _wrong(call)] == []


def test_it_has_every_state_and_every_kind_of_error() -> None:
    rows = re.findall(r"^\| (?:(\d+) \| )?`([\w-]+)` \| .+ \|$", SKILL, re.M)
    states = [word for code, word in rows if not code]
    kinds = {(int(code), word) for code, word in rows if code}

    assert states == [str(state) for state in JobState]
    assert kinds == {(one.exit_code, one.code) for one in KINDS if one not in (UNSUCCESSFUL, INTERNAL)}


def test_it_is_a_skill_and_is_short() -> None:
    head = re.match(r"---\nname: slipway\ndescription: [^:\n]+\n---\n", SKILL)

    assert head
    assert len(SKILL) < 1_200 * CHARACTERS_OF_A_TOKEN


class Agent:
    """It knows the skill, a folder and a price, and repeats a call whose answer it did not get."""

    def __init__(self, world: World, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.world, self.folder, self.capsys = world, folder, capsys
        self.words = {"FOLDER": str(folder), "OUT": str(folder.parent / "out"), "KEY": "piece-1"}
        self.read = len(SKILL)
        self.calls = 0

    async def follow(self, step: str, monkeypatch: pytest.MonkeyPatch, loss: Loss = "") -> Called:
        """Make the call of a step."""
        words = [self.words.get(word, word) for word in shlex.split(step)]

        def run(url: str) -> int:
            monkeypatch.setattr(sys, "argv", [*words, "--url", url])
            with pytest.raises(SystemExit) as end:
                main()
            return int(end.value.code or 0)

        async with losing(loss) as (url, _):
            code = await asyncio.to_thread(run, url)
        captured = self.capsys.readouterr()
        self.calls += 1
        self.read += len(captured.out) + len(captured.err)
        return Called(captured.out, code)


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Agent:
    world = World()
    row = {"cluster": "dev", "currency": "EUR", "perHour": 4, "date": date(2026, 1, 1), "source": "ours"}
    world.policy(prices=prices_from([row]))
    use(world, monkeypatch)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "train.py").write_text("print(1)")
    job = job_json(customToolkitSettings={"commandLine": "python train.py"})
    (folder / "job.json").write_text(json.dumps(job))
    return Agent(world, folder, capsys)


@pytest.fixture
async def storage(agent: Agent) -> Any:
    from aiohttp import web

    from tests.doubles.server import answering

    async def closed(_: web.Request) -> web.Response:
        return web.Response(status=403)

    agent.world.use(snapshots=(snapshots := Closed(agent.world.clock)))
    async with answering(closed) as snapshots.place:
        yield


@pytest.mark.usefixtures("storage")
async def test_it_is_enough_to_go_from_a_folder_to_a_receipt(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    price, run, wait, _, download, receipt = STEPS

    looked = await agent.follow(price, monkeypatch)
    submitted = await agent.follow(run, monkeypatch)
    agent.words["JOB"] = json.loads(submitted.out)["id"]
    (name,) = agent.world.engine.started
    agent.world.engine.output = {"stdout.txt": b"a line\n"}
    agent.world.engine.set_state(name, JobState.SUCCEEDED)
    await agent.world.make_pass()
    ended = await agent.follow(wait, monkeypatch)
    fetched = await agent.follow(download, monkeypatch)
    record = await agent.follow(receipt, monkeypatch)

    assert json.loads(looked.out)["explanation"]["verdict"] == "runs"
    assert json.loads(looked.out)["explanation"]["cost"]["price"][0]["total"]["to"] == 4
    assert [one.code for one in (looked, submitted, ended, fetched, record)] == [0, 0, 0, 0, 0]
    assert json.loads(ended.out)["state"] == "succeeded"
    assert json.loads(record.out)["state"] == "succeeded"
    assert agent.calls <= 6
    assert agent.read < 5_000 * CHARACTERS_OF_A_TOKEN


@pytest.mark.usefixtures("storage")
async def test_repeated_calls_whose_answers_are_lost_are_one_job(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[Loss] = ["cut", "502 in HTML", "", ""]
    submitted = [await agent.follow(STEPS[1], monkeypatch, loss) for loss in answers]

    assert {one.code for one in submitted} == {0}
    assert len({json.loads(one.out)["id"] for one in submitted}) == len(agent.world.ledger.jobs) == 1


@pytest.mark.usefixtures("storage")
async def test_its_cap_stops_it(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"cluster": "dev", "currency": "EUR", "perHour": 6, "date": date(2026, 1, 1), "source": "ours"}
    agent.world.policy(prices=prices_from([row]))

    refused = [await agent.follow(STEPS[1], monkeypatch) for _ in range(3)]

    assert {one.code for one in refused} == {OVER_LIMIT.exit_code}
    assert {json.loads(one.out)["error"]["retry"] for one in refused} == {False}
    assert agent.world.ledger.jobs == []
