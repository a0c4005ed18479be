"""Ten thousand jobs in the real table, scrolled and filtered in the browser."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from local.stack import Options, stack
from tests.acceptance.conftest import provisioned
from tests.browser.reader import PATIENCE, Reader
from tests.browser.thousands import fill

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.thorough]
COUNT = 10_000


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
    while (known := int(await table.get_attribute("aria-rowcount") or 0)) < COUNT + 1:
        await page.evaluate("document.querySelector('.rows').scrollTop = 1e9")
        await expect(table).not_to_have_attribute("aria-rowcount", str(known), timeout=PATIENCE)

    await page.evaluate("document.querySelector('.rows').scrollTop = 1e9")
    await expect(page.get_by_role("link", name="odd-009999")).to_be_visible()
    assert await page.get_by_role("row").count() < 60
    await page.get_by_label("State").select_option("failed")
    await expect(table).to_have_attribute("aria-rowcount", str(COUNT // 100 + 1), timeout=PATIENCE)
    await page.get_by_label("Name begins with").fill("odd-0099")
    await expect(table).to_have_attribute("aria-rowcount", "2", timeout=PATIENCE)
    await page.get_by_role("link", name="odd-009999").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text(
        "odd-009999 ✗ failed", timeout=PATIENCE
    )
