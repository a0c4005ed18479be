"""A wrong answer in the middle of a view: it says what and since when, keeps what it shows, recovers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TypeVar

import pytest
from playwright.async_api import Locator, expect

from tests.breadth import one_each, share
from tests.browser.reader import Reader, answer_tagged, listed
from tests.browser.trouble.everything import FAULTS, JOB, VIEWS, answer_everything, data, refusing

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: One of the API's refusals stands for the others in all views but the first.
KINDS = {fault: re.sub(r"^40\d|413|500", "refusal", fault) for fault in FAULTS}
Case = TypeVar("Case")


def tried(cases: Sequence[Case], view: str, views: int = 3) -> list[Case]:
    """What is tried in a view: the first one meets everything, of the others so many divide it among them."""
    number = list(VIEWS).index(view)
    return share(cases, number - 1, views) if number else list(cases)


async def passes(what: Locator, count: int | None = None) -> None:
    """Let the page's clock go on, a little at a time, until something is there, or so many of it."""
    for _ in range(30):
        await what.page.clock.run_for(20_000)
        with suppress(AssertionError):
            await (
                expect(what).to_have_count(count, timeout=700)
                if count is not None
                else expect(what.first).to_be_visible(timeout=700)
            )
            break
    await (expect(what).to_have_count(count) if count is not None else expect(what.first).to_be_visible())


async def open_everything(reader: Reader, view: str) -> None:
    """Load the view anew: an answer to the page before may come while its clock is being put in."""
    await reader.page.clock.install()
    await answer_everything(reader.page)
    await reader.open(view)
    await reader.page.reload()


@pytest.mark.parametrize("view", VIEWS)
async def test_what_goes_wrong_in_the_middle_of_a_view_is_said_keeps_what_it_shows_and_ends(
    reader: Reader, view: str
) -> None:
    page = reader.page
    await open_everything(reader, view)
    shown = page.get_by_role("main").get_by_text(VIEWS[view]).filter(visible=True).first
    await expect(shown).to_be_visible()
    alert = page.get_by_role("alert")
    await expect(alert).to_have_count(0)
    for fault in tried(list(FAULTS) if view == "jobs" else one_each(FAULTS, KINDS.__getitem__), view):
        answer, words = FAULTS[fault]
        await page.route(data, answer)

        await passes(alert.filter(has_text=words))

        await expect(alert.first.get_by_role("time")).to_have_attribute("title", re.compile("UTC"))
        await expect(alert.first).to_contain_text("The page")
        await expect(alert.first).to_contain_text("What you see is")
        await expect(shown).to_be_visible()
        await expect(page.get_by_text("Loading…")).to_have_count(0)
        await page.unroute(data, answer)
        await passes(alert, 0)
        await expect(shown).to_be_visible()
    assert await reader.violations() == []


async def test_what_is_typed_before_the_page_has_drawn_its_editor_stays(reader: Reader) -> None:
    page = reader.page
    await open_everything(reader, "new")
    await page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))
    await page.reload()
    text = page.get_by_label("job.json")
    while await text.count() == 0:  # the editor is loaded, and nothing that waits for a frame has run
        await page.clock.run_for(20)
        await page.evaluate("fetch(location.pathname)")

    await text.fill('{"typed": "at once"}')
    await page.clock.run_for(5_000)

    await expect(text).to_contain_text("at once")


@pytest.mark.parametrize("view", VIEWS)
async def test_a_view_that_opens_in_an_outage_says_so_and_comes_by_itself(reader: Reader, view: str) -> None:
    page, alert = reader.page, reader.page.get_by_role("alert")
    await open_everything(reader, view)
    for fault in tried(("403", "500", "a page of a proxy", "another shape", "a reset", "nothing"), view):
        answer, words = FAULTS[fault]
        await page.route(data, answer)
        await page.reload()

        await passes(alert.filter(has_text=words))

        await expect(alert.first.get_by_role("time").first).to_have_attribute("title", re.compile("UTC"))
        assert await reader.violations() == []
        await page.unroute(data, answer)
        await passes(alert, 0)
        await expect(page.get_by_role("main").get_by_text(VIEWS[view]).first).to_be_visible()


@pytest.mark.parametrize("view", VIEWS)
async def test_no_call_is_made_again_before_the_time_that_the_deployment_asked_for(
    reader: Reader, view: str
) -> None:
    page, calls = reader.page, dict[str, int]()
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=300), usegmt=True)
    await open_everything(reader, view)
    await expect(page.get_by_role("main").get_by_text(VIEWS[view]).first).to_be_visible()
    page.on(
        "request", lambda one: calls.update({one.url: calls.get(one.url, 0) + 1}) if data(one.url) else None
    )
    alert = page.get_by_role("alert")
    for pause in tried((later, "300"), view, 2):  # a date first: later on, the page's clock is past it
        refuse = refusing(429, **{"Retry-After": pause})
        await page.route(data, refuse)
        calls.clear()
        await passes(alert.filter(has_text="refused with 429"))
        await expect(alert.first).to_contain_text("The deployment accepts no such call before")

        for _ in range(10):
            await page.clock.run_for(20_000)
            await page.evaluate("fetch(location.pathname)")
        # Another view, and back: what was refused is not asked for again there, either.
        await page.get_by_role("link", name="New job").click()
        await page.go_back()
        await passes(alert.filter(has_text="refused with 429"))

        assert max(calls.values()) == 1, calls
        await page.unroute(data, refuse)
        await passes(alert, 0)


async def test_what_is_not_checked_in_an_outage_is_said_and_checked_after_it(reader: Reader) -> None:
    page = reader.page
    await open_everything(reader, "new")
    text = page.get_by_label("job.json")
    alert = page.get_by_role("alert")
    for number, fault in enumerate(one for one in FAULTS if one != "401"):
        answer, words = FAULTS[fault]
        await page.get_by_label("Name").fill(f"mine-{number}")
        await page.route(data, answer)
        await text.fill(f'{{"properties": {{"nodeCount": {number}}}}}')

        await passes(alert.filter(has_text=words).filter(has_text="This document is not checked: "))

        await expect(page.get_by_text("This document can run.")).to_have_count(0)
        await page.unroute(data, answer)
        await passes(alert, 0)
        await passes(page.get_by_text("This document can run."))
        await expect(text).to_contain_text(f'"nodeCount": {number}')
        await expect(page.get_by_label("Name")).to_have_value(f"mine-{number}")


async def test_older_jobs_that_do_not_come_are_said_and_come_by_themselves(reader: Reader) -> None:
    page = reader.page
    await open_everything(reader, "clusters")
    await answer_tagged(page, "**/api/jobs?limit=200", {"jobs": [listed(1)], "next": "older"})
    await answer_tagged(page, "**/api/jobs?*after=older*", {"jobs": [listed(2)], "next": None})
    refuse = refusing(503)
    await page.route("**/api/jobs?*after=older*", refuse)
    await reader.open("jobs")
    await page.reload()
    await expect(page.get_by_text("train-000001")).to_be_visible()

    await passes(page.get_by_role("alert").filter(has_text="refused with 503"))
    await page.unroute("**/api/jobs?*after=older*", refuse)

    await passes(page.get_by_text("train-000002"))
    await expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("fault", [one for one in FAULTS if one != "403"])
async def test_who_calls_is_asked_again_until_it_is_known(reader: Reader, fault: str) -> None:
    page, (answer, words) = reader.page, FAULTS[fault]
    await open_everything(reader, "jobs")
    await page.route("**/api/me", answer)
    await page.reload()
    if fault == "401":
        await expect(page.get_by_text("The deployment refused the last one.")).to_be_visible()
        return
    await passes(page.get_by_role("alert").filter(has_text=words))
    await expect(page.get_by_text("train-000001")).to_be_visible()
    await expect(page.get_by_text("offers no changes")).to_be_visible()

    await page.unroute("**/api/me", answer)
    await passes(page.get_by_role("alert"), 0)

    await reader.open(JOB)
    await expect(page.get_by_role("button", name="Cancel")).to_be_visible()
