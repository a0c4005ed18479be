"""What an open page of a job asks for: one call for all of it, seldom, and nothing while it is hidden."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page, Request, Route, expect

from tests.browser.every_view.views import pass_time
from tests.browser.one_job.live import answer_live, live, part
from tests.browser.one_job.stories import FAILED, LOG, RUNNING, numbers
from tests.browser.reader import Reader

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: Requests a minute of one open tab: of a job that writes all the time, and of one of which nothing is new.
WRITING, IDLE = 12, 4
#: Requests a second that a deployment takes from thirty people who each watch such a job.
PEOPLE, MOST = 30, 6


def calls_of(page: Page) -> list[str]:
    """The requests that the page makes from now on."""
    calls = list[str]()

    def note(request: Request) -> None:
        if "/api/" in request.url and "/api/ui/" not in request.url:
            calls.append(request.url.partition("/api/")[2].partition("?")[0])

    page.on("request", note)
    return calls


async def answer_writing(page: Page) -> None:
    """A job that has written one more line, and one more number, at each request."""
    count = 0

    async def answer(route: Route) -> None:
        nonlocal count
        line = b"another line\n"
        written = part("stdout.txt", len(line) * count, line, len(line) * (count + 1))
        point: dict[str, Any] = {
            "name": "loss",
            "file": "OUT/m.jsonl",
            "axis": "step",
            "points": [[count, 1]],
        }
        count += 1
        await route.fulfill(json=live(RUNNING, {}, [point], next=str(count)) | {"log": [written]})

    await page.route("**/api/jobs/job-000001/live?*", answer)


async def hide(page: Page) -> None:
    await page.evaluate(
        "Object.defineProperty(document, 'hidden', {get: () => true, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )


@pytest.mark.parametrize("address", ["", "/log", "/metrics", "/events"])
async def test_a_job_that_writes_all_the_time_is_asked_for_every_five_seconds_and_never_while_hidden(
    reader: Reader, address: str
) -> None:
    page = reader.page
    await page.clock.install()
    await answer_writing(page)
    await page.route("**/api/jobs/job-000001/events", lambda route: route.fulfill(json={"events": []}))
    await reader.open(f"jobs/job-000001{address}")
    await page.reload()
    await expect(page.get_by_role("log")).to_contain_text("another line")
    await pass_time(page, 20)
    calls = calls_of(page)

    await pass_time(page, 60)

    assert len(calls) > IDLE
    assert len(calls) <= WRITING, calls
    assert PEOPLE * WRITING / 60 <= MOST
    assert set(calls) == {"jobs/job-000001/live"}
    await hide(page)
    calls.clear()
    await pass_time(page, 60)
    assert calls == []


async def test_what_comes_is_added_to_the_log_and_the_plots(reader: Reader) -> None:
    page = reader.page
    await page.clock.install()
    await answer_writing(page)
    await reader.open("jobs/job-000001/log")
    await expect(page.get_by_role("log").locator(".line")).to_have_count(1)

    await pass_time(page, 40)

    lines = await page.get_by_role("log").locator(".line").count()
    assert lines > 3
    await expect(page.get_by_role("heading", name="Log")).to_be_visible()
    await expect(page.locator(".log-panel .count")).to_contain_text(f"{lines} lines")


async def test_a_job_of_which_nothing_is_new_is_asked_for_four_times_a_minute(reader: Reader) -> None:
    page = reader.page
    await page.clock.install()
    await answer_live(page, RUNNING, log=LOG, series=numbers())
    await reader.open("jobs/job-000001")
    await expect(page.get_by_role("log")).to_contain_text("epoch")
    await pass_time(page, 120, step=5)
    calls = calls_of(page)

    await pass_time(page, 60)

    assert len(calls) <= IDLE, calls


async def test_a_job_that_has_ended_is_read_once_and_its_parts_when_they_are_opened(reader: Reader) -> None:
    page, calls = reader.page, list[str]()
    await answer_live(page, FAILED, log=LOG, series=numbers())
    await page.route("**/api/jobs/job-000001/events", lambda route: route.fulfill(json={"events": []}))
    await page.clock.install()
    calls = calls_of(page)
    await reader.open("jobs/job-000001")
    await expect(page.get_by_role("log")).to_contain_text("epoch")
    await pass_time(page, 60, step=5)

    assert calls == ["jobs/job-000001/live"]

    await page.get_by_role("heading", name="Events").scroll_into_view_if_needed()
    await expect(page.get_by_role("heading", name="Deliveries")).to_be_visible()
    async with page.expect_request("**/outputs"), page.expect_request("**/files?*"):
        await page.get_by_role("heading", name="Files").click()
    assert {"jobs/job-000001/events", "jobs/job-000001/outputs", "jobs/job-000001/files"} == {*calls[1:]}
