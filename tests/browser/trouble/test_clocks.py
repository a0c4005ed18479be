"""Times in the reader's zone, and by the deployment's clock where the reader's is wrong."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect

from tests.acceptance.door import Door
from tests.browser.conftest import KEY
from tests.browser.one_job.live import live
from tests.browser.reader import Reader, listed

pytestmark = pytest.mark.asyncio(loop_scope="session")
_AT = datetime(2026, 7, 1, 22, 30, tzinfo=UTC)


def written(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


async def answer_job(page: Page, now: datetime, **members: Any) -> None:
    """Answer for a job that runs since four minutes, by the clock of a deployment where it is `now`."""
    started = written(now - timedelta(minutes=4))
    job = {**listed(1, state="running", createdAt=started, startedAt=started), "history": [], **members}
    job.pop("endedAt")
    headers = {"Date": format_datetime(now, usegmt=True)}

    async def answer(route: Route) -> None:
        is_list = "jobs?" in route.request.url
        await route.fulfill(json={"jobs": [job], "next": None} if is_list else live(job), headers=headers)

    await page.route("**/api/jobs?*", answer)
    await page.route("**/api/jobs/job-000001/live?*", answer)


@pytest_asyncio.fixture(loop_scope="session")
async def in_auckland(browser: Browser, door: Door) -> AsyncIterator[Reader]:
    context = await browser.new_context(timezone_id="Pacific/Auckland", locale="en-GB")
    reader = Reader(await context.new_page(), f"{door.stack.host_url}/api/ui/")
    await reader.sign_in(KEY)
    yield reader
    await context.close()


async def test_times_are_in_the_readers_zone_with_the_utc_in_the_tooltip(in_auckland: Reader) -> None:
    page = in_auckland.page
    entry = {"sequence": 1, "state": "accepted", "at": written(_AT), "attempt": 1}
    await answer_job(page, _AT, createdAt=written(_AT), history=[entry])

    await in_auckland.open("jobs")
    await expect(page.get_by_role("heading", name="Thursday 2 July")).to_be_visible()
    time = page.get_by_role("row").locator("time")
    await expect(time).to_have_text("10:30")
    await expect(time).to_have_attribute("datetime", written(_AT))
    await expect(time).to_have_attribute("title", re.compile(r"^Thursday,? 2 July 2026 at 10:30:00 (GMT|NZ)"))

    await in_auckland.open("jobs/job-000001")
    places = {"About": "2 Jul 2026, 10:30:00", "Events": "10:30:00"}
    for name, text in places.items():
        time = page.get_by_role("region", name=name).locator("time")
        await expect(time).to_have_text(text)
        await expect(time).to_have_attribute("title", "2026-07-01 22:30:00 UTC")


@pytest.mark.parametrize("hours", [-30, -2, 2, 30])
async def test_a_reader_whose_clock_is_wrong_sees_how_long_a_job_has_run(reader: Reader, hours: int) -> None:
    page, now = reader.page, datetime.now(UTC).replace(microsecond=0) + timedelta(hours=hours)
    await answer_job(page, now)

    await reader.open("jobs")
    await page.reload()
    await expect(page.get_by_role("row").nth(2)).to_contain_text("4 min")
    await reader.open("jobs/job-000001")

    ran = page.locator(".brief > div").filter(has=page.get_by_text("runs", exact=True))
    await expect(ran).to_contain_text("4 min")
