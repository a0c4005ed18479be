"""A backup of the ledger, rehearsed on a real storage emulator: made, restored into a new table, and used."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import os
import re
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import ClientSession, web
from typer.testing import CliRunner, Result
from yarl import URL

from local.azurite import Azurite
from shared.adapters.storage.layout import claim
from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.table import Operation, Row
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.resttable import RestTable
from shared.admission.pauses import pause, resume
from shared.core.errors import Misconfigured
from shared.core.job import JobState
from shared.core.ledger.listing import Query
from shared.core.pacing.memo import Memo
from slipway.main import app
from tests.doubles.memory import MemoryLedger
from tests.doubles.server import answering
from tests.unit.world import World, job_json, rows_of

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: The server of tables in a connection string, without the account.
_TABLES = re.compile(r"TableEndpoint=https?://[^/;]+")
NOTIFY = [{"url": "https://hooks.example.com"}]


@pytest_asyncio.fixture(loop_scope="session")
async def account(storage: Azurite) -> AsyncIterator[Account]:
    account = Account(Connection(storage.connection_string))
    yield account
    await account.close()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def settings(storage: Azurite, tmp_path: Path) -> Path:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"Values": {"SLIPWAY_STORAGE": storage.connection_string}}))
    return file


def write_settings(settings: Path, more: dict[str, str]) -> None:
    """Change some of the settings."""
    values = json.loads(settings.read_text())["Values"] | more
    settings.write_text(json.dumps({"Values": values}))


def new_name() -> str:
    return f"t{uuid.uuid4().hex[:20]}"


async def run(*words: object) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, app, ["backup", *map(str, words)])


async def rows_in(table: RestTable) -> list[Row]:
    """Every row, without the time of its last write."""
    rows = [row async for page in table.pages({}) for row in page]
    return [{name: value for name, value in row.items() if name != "Timestamp"} for row in rows]


async def filled(account: Account, world: World) -> RestTable:
    """A table with the rows of a deployment: a job that has ended, one that runs, and one that is paused."""
    for name in ("ended", "runs"):
        await world.message({"spec": job_json(), "name": name, "notify": NOTIFY}, name)
    for engine, state in zip(world.engine.started, (JobState.SUCCEEDED, JobState.RUNNING), strict=True):
        world.engine.set_state(engine, state)
    await world.make_pass()
    await pause(world.ports, "ann", "an upgrade")
    await world.message({"spec": job_json(), "name": "waits"}, "waits")
    table = RestTable(account, new_name())
    await table.make()
    for row in rows_of(world):
        await table.transact([Operation("upsert", row)])
    return table


async def test_a_backup_is_made_restored_and_used(
    account: Account, world: World, settings: Path, tmp_path: Path
) -> None:
    table, copy = await filled(account, world), RestTable(account, new_name())
    file = tmp_path / "ledger.gz"

    result = await run("make", file, "--table", table.name, "--settings", settings)
    restored = await run("restore", file, "--into", copy.name, "--settings", settings)

    assert (result.exit_code, restored.exit_code) == (0, 0), result.output + restored.output
    assert await rows_in(copy) == await rows_in(table)
    assert file.stat().st_mode & 0o777 == 0o600
    # the restored ledger goes on where the backup was taken: nothing runs twice, and what ran ends
    ledger = MemoryLedger(world.clock, table=copy)
    world.use(ledger=ledger, outbox=TableOutbox(ledger.store), memo=Memo())
    world.engine.set_state(world.engine.started[1], JobState.FAILED)
    await world.make_pass()
    await resume(world.ports, "ann")
    world.pass_time(60)
    await world.make_pass()
    page = await ledger.find(Query(), limit=10, after=None)
    states = {job.name: job.state.value for job in page.jobs}
    assert states["ended"] == "succeeded"
    assert states["runs"] == "failed"
    assert states["waits"] in ("submitting", "queued")
    assert len(world.engine.started) == 3


async def test_a_table_with_rows_is_left_as_it_is(
    account: Account, world: World, settings: Path, tmp_path: Path
) -> None:
    table = await filled(account, world)
    file = tmp_path / "ledger.gz"
    assert (await run("make", file, "--table", table.name, "--settings", settings)).exit_code == 0
    before = await rows_in(table)

    again = await run("restore", file, "--into", table.name, "--settings", settings)

    assert again.exit_code != 0
    assert "has rows, all or some of a restore; name a new one" in str(again.exception)
    assert await rows_in(table) == before


@pytest.mark.parametrize("cut", [0, 1, 40, 400])
async def test_a_file_that_is_cut_off_restores_nothing(
    account: Account, world: World, settings: Path, tmp_path: Path, cut: int
) -> None:
    table, copy = await filled(account, world), RestTable(account, new_name())
    file = tmp_path / "ledger.gz"
    await run("make", file, "--table", table.name, "--settings", settings)
    lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    whole = gzip.compress(b"".join(lines[:-1]))
    file.write_bytes(whole[:-cut] if cut else whole)

    restored = await run("restore", file, "--into", copy.name, "--settings", settings)

    assert "is not a whole backup" in str(restored.exception)
    assert await rows_in(copy) == []


async def test_a_backup_is_of_the_table_that_the_app_uses(
    account: Account, world: World, settings: Path, tmp_path: Path
) -> None:
    table = await filled(account, world)
    write_settings(settings, {"SLIPWAY_LEDGER_TABLE": table.name})

    result = await run("make", tmp_path / "ledger.gz", "--settings", settings)

    assert f"rows of {table.name}" in result.output


async def test_half_a_restore_is_no_table_for_an_app_or_a_backup(
    account: Account, world: World, storage: Azurite, settings: Path, tmp_path: Path
) -> None:
    table, half = await filled(account, world), RestTable(account, new_name())
    file, writes = tmp_path / "ledger.gz", itertools.count()
    assert (await run("make", file, "--table", table.name, "--settings", settings)).exit_code == 0

    async def answer(request: web.Request) -> web.Response:
        if request.method != "GET" and next(writes) >= 3:
            return web.Response(status=403)  # the command ends in the middle
        return await relayed(request, storage.connection_string)

    async with answering(answer) as url:
        own = _TABLES.sub(f"TableEndpoint={url}", storage.connection_string)
        write_settings(settings, {"SLIPWAY_STORAGE": own})
        assert (await run("restore", file, "--into", half.name, "--settings", settings)).exit_code != 0

    write_settings(settings, {"SLIPWAY_STORAGE": storage.connection_string})
    saved = await run("make", tmp_path / "half.gz", "--table", half.name, "--settings", settings)
    again = await run("restore", file, "--into", half.name, "--settings", settings)
    assert "did not end; name another one" in str(saved.exception)
    assert "all or some of a restore" in str(again.exception)
    with pytest.raises(Misconfigured, match="a restore into the ledger's table is going on, or did not end"):
        await claim(half, 4, "")


async def test_a_table_that_changes_all_the_time_is_no_backup(
    account: Account, world: World, storage: Azurite, settings: Path, tmp_path: Path
) -> None:
    table = await filled(account, world)
    numbers = itertools.count()

    async def answer(request: web.Request) -> web.Response:
        row = {"PartitionKey": "meta", "RowKey": "a", "Number": next(numbers)}
        await table.transact([Operation("upsert", row)])
        return await relayed(request, storage.connection_string)

    async with answering(answer) as url:
        own = _TABLES.sub(f"TableEndpoint={url}", storage.connection_string)
        write_settings(settings, {"SLIPWAY_STORAGE": own})
        result = await run("make", tmp_path / "ledger.gz", "--table", table.name, "--settings", settings)

    assert "changes while it is read; stop the app" in str(result.exception)
    assert os.listdir(tmp_path) == [settings.name]  # noqa: PTH208


async def relayed(request: web.Request, storage: str) -> web.Response:
    """The answer of the storage emulator to a request; its signature does not depend on the address."""
    (server,) = re.findall(r"TableEndpoint=(https?://[^/;]+)", storage)
    address = URL(server + request.raw_path, encoded=True)
    headers = {name: text for name, text in request.headers.items() if name != "Host"}
    async with (
        ClientSession() as session,
        session.request(
            request.method, address, headers=headers, data=await request.read() or None
        ) as theirs,
    ):
        names = {"Content-Type", *(name for name in theirs.headers if name.lower().startswith("x-ms-"))}
        more = {name: theirs.headers[name] for name in names if name in theirs.headers}
        return web.Response(status=theirs.status, headers=more, body=await theirs.read())


async def test_a_table_that_is_not_there_is_named(settings: Path, tmp_path: Path) -> None:
    result = await run("make", tmp_path / "x.gz", "--table", "nothing1", "--settings", settings)

    assert "the table nothing1 is not there, or empty" in str(result.exception)
