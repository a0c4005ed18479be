"""Ten thousand jobs in the real table, scrolled and filtered in the browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from local.stack import Options, Stack, stack
from shared.adapters.storage import rows
from shared.adapters.storage.lists import listed
from shared.adapters.storage.table import Operation, Row
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.resttable import RestTable
from shared.core.identity import job_id
from shared.core.job import Entry, Job, JobState
from shared.settings import Settings
from tests.acceptance.conftest import provisioned
from tests.browser.reader import PATIENCE, Reader, search

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.thorough]
COUNT = 10_000
_AT_ONCE = 100


async def fill(stack: Stack, count: int) -> None:
    """Write `train-000000`, the newest, to the oldest; each hundredth has failed, and is named `odd-…`."""
    settings = Settings(stack.settings)
    shards, newest = settings.whole("SLIPWAY_SHARDS"), datetime.now(UTC) - timedelta(hours=1)
    partitions: dict[str, list[Row]] = {rows.partition(shard): [] for shard in range(shards)}
    for number in range(count):
        job = _job(number, newest)
        for row in (rows.record_row(job, shards), *listed.listed_rows(job, shards)):
            partitions[str(row["PartitionKey"])].append(row)
    account = Account(Connection(stack.storage.connection_string))
    try:
        table = RestTable(account, settings.text("SLIPWAY_LEDGER_TABLE"))
        await asyncio.gather(*(_write(table, partition) for partition in partitions.values()))
    finally:
        await account.close()


async def _write(table: RestTable, partition: list[Row]) -> None:
    for start in range(0, len(partition), _AT_ONCE):
        await table.transact([Operation("upsert", row) for row in partition[start : start + _AT_ONCE]])


def _job(number: int, newest: datetime) -> Job:
    is_odd = number % 100 == 99
    state = JobState.FAILED if is_odd else JobState.SUCCEEDED
    created = newest - timedelta(seconds=number)
    return Job(
        id=job_id(str(number), 1),
        key=str(number),
        payload="p",
        door="queue",
        name=f"{'odd' if is_odd else 'train'}-{number:06}",
        experiment=f"vision-{number % 20}",
        cluster="gpu",
        state=state,
        message="Job failed with non-zero exit code" if is_odd else "",
        created=created,
        due=created,
        started=created,
        ended=created,
        receipt=f"vision/{number}",
        history=(Entry(sequence=1, state=state, at=created, token="t"),),
    )


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The page of a stack of its own, which asks for no key."""
    options = Options(data=tmp_path_factory.mktemp("thousands"), in_memory=True)
    async with stack(options, provisioned) as running:
        await fill(running, COUNT)
        yield f"{running.host_url}/api/ui/"


async def test_ten_thousand_jobs_are_scrolled_to_the_oldest_and_filtered(page: Page, url: str) -> None:
    reader = Reader(page, url)
    await reader.open("jobs")
    table = page.get_by_role("table", name="Jobs")
    await expect(page.get_by_role("link", name="train-000000")).to_be_visible(timeout=PATIENCE)
    while (count := int(await table.get_attribute("aria-rowcount") or 0)) <= COUNT:
        await page.evaluate("document.querySelector('.rows').scrollTop = 1e9")
        await expect(table).not_to_have_attribute("aria-rowcount", str(count), timeout=PATIENCE)

    await page.evaluate("document.querySelector('.rows').scrollTop = 1e9")
    await expect(page.get_by_role("link", name="odd-009999")).to_be_visible()
    assert await page.get_by_role("row").count() < 60
    await page.get_by_role("button", name="failed").click()
    await expect(page.get_by_text(f"{COUNT // 100} jobs", exact=True)).to_be_visible(timeout=PATIENCE)
    await expect(page.locator(".fold").first).to_contain_text("one error")
    await search(page).fill("odd-0099")
    await expect(page.get_by_text("1 job", exact=True)).to_be_visible(timeout=PATIENCE)
    await page.get_by_role("link", name="odd-009999").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("odd-009999 failed", timeout=PATIENCE)
