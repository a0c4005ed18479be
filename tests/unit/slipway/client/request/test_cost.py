"""What may cost more than its sender allows is not sent; a look sends nothing either."""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from aiohttp import web

from shared.core.cost.prices import prices_from
from shared.core.teams.document import Quota, Team, Teams
from slipway.failure import NOT_ALLOWED, OVER_LIMIT
from slipway.main import main
from tests.doubles.memory_snapshots import MemorySnapshots
from tests.doubles.server import answering
from tests.unit.functions.calls import use
from tests.unit.slipway.lossy import losing
from tests.unit.world import World, job_json

ROW = {"cluster": "dev", "currency": "EUR", "perHour": 0.5, "date": date(2026, 1, 1), "source": "ours"}
HOUR = {"constraints": {"maxWallClockTime": "PT1H"}}
#: Every way in which these commands send a job of one node for one hour.
WAYS = {
    "a message": "submit FOLDER/message.json",
    "a message with code": "submit FOLDER/message.json --code FOLDER/code",
    "a job file beside its script": "submit FOLDER/own/job.json",
    "a folder": "run FOLDER/code --time 1h --detach",
    "a folder with a job file": "run FOLDER/own --detach",
}
SWEEP = "submit FOLDER/sweep.json"


class Closed(MemorySnapshots):
    """A storage that refuses clients, so that code goes through the app."""

    place = ""

    async def upload_address(self, blob: str, until: datetime) -> str:
        return f"{self.place}/{blob}"


class Ran(NamedTuple):
    """What a command has printed, its exit code, and how many jobs there are then."""

    out: str
    code: int
    jobs: int


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    spec = job_json(**HOUR)
    documents: dict[str, Any] = {
        "message": {"name": "sent", "spec": spec},
        "sweep": {"name": "lr", "spec": spec, "sweep": {"lr": [1, 2]}, "parallel": 1},
        "own/job": job_json(**HOUR, customToolkitSettings={"commandLine": "python train.py"}),
    }
    for name in ("code", "own"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text("print(1)")
    for name, document in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    return tmp_path


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    world.policy(prices=prices_from([ROW]))
    use(world, monkeypatch)
    return world


@pytest.fixture
def command(
    world: World, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    def run(line: str, url: str) -> int:
        words = line.replace("FOLDER", str(folder)).split()
        monkeypatch.setattr(sys, "argv", ["slipway", *words, "--json", "--url", url])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0)

    async def closed(_: web.Request) -> web.Response:
        return web.Response(status=403)

    world.use(snapshots=(storage := Closed(world.clock)))

    async def ran(line: str) -> Ran:
        async with losing("") as (url, _), answering(closed) as storage.place:
            code = await asyncio.to_thread(run, line, url)
        return Ran(capsys.readouterr().out, code, len(world.ledger.jobs))

    return ran


@pytest.mark.parametrize("way", WAYS)
async def test_what_may_cost_more_is_not_sent(way: str, command: Any) -> None:
    over = await command(f"{WAYS[way]} --max-cost 0.49")
    within = await command(f"{WAYS[way]} --max-cost 0.5")

    assert (over.code, over.jobs) == (OVER_LIMIT.exit_code, 0)
    assert "it may cost 0.50 EUR" in json.loads(over.out)["error"]["text"]
    assert (within.code, within.jobs) == (0, 1)


async def test_all_jobs_of_a_sweep_count(command: Any) -> None:
    over = await command(f"{SWEEP} --max-cost 0.99")
    within = await command(f"{SWEEP} --max-cost 1")

    assert (over.code, over.jobs) == (OVER_LIMIT.exit_code, 0)
    assert (within.code, within.jobs) == (0, 2)


@pytest.mark.parametrize("way", WAYS)
async def test_a_look_sends_nothing_and_says_what_it_may_cost(way: str, command: Any) -> None:
    seen_only = await command(f"{WAYS[way]} --dry-run")
    over = await command(f"{WAYS[way]} --dry-run --max-cost 0.1")

    explanation = json.loads(seen_only.out)["explanation"]
    assert (seen_only.code, seen_only.jobs) == (0, 0)
    assert explanation["verdict"] == "runs"
    assert explanation["cost"]["price"][0]["total"]["to"] == 0.5
    assert (over.code, over.jobs) == (OVER_LIMIT.exit_code, 0)
    assert json.loads(over.out.splitlines()[-1])["error"]["code"] == "over-limit"


async def test_what_is_not_priced_is_not_sent_with_a_cap(world: World, command: Any) -> None:
    world.policy(prices=())

    unknown = await command(f"{WAYS['a message']} --max-cost 100")

    assert (unknown.code, unknown.jobs) == (OVER_LIMIT.exit_code, 0)
    assert "not known" in json.loads(unknown.out)["error"]["text"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_repeated_call_is_one_job_also_when_its_price_has_grown(
    way: str, world: World, command: Any
) -> None:
    line = f"{WAYS[way]} --idempotency-key order-7 --max-cost 0.5"
    first = await command(line)
    world.policy(prices=prices_from([{**ROW, "perHour": 9}]))
    second = await command(line)

    assert [(one.code, one.jobs) for one in (first, second)] == [(0, 1), (0, 1)]


async def test_a_cap_of_the_team_ends_alike(world: World, command: Any) -> None:
    await world.ports.teams.put(Teams(default="all", teams={"all": Team(quota=Quota(jobCost=0.4))}), "")

    over = await command(WAYS["a message"])

    assert over.code == OVER_LIMIT.exit_code
    assert "it may cost 0.5" in json.loads(over.out)["error"]["text"]


async def test_a_team_that_one_may_not_use_is_no_matter_of_money(
    world: World, folder: Path, command: Any
) -> None:
    await world.ports.teams.put(Teams(default="all", teams={"all": Team()}), "")
    (folder / "message.json").write_text(json.dumps({"team": "other", "spec": job_json()}))

    refused = await command(WAYS["a message"])

    assert refused.code == NOT_ALLOWED.exit_code
