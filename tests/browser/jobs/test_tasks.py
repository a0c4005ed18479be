"""What people come for, in clicks: each has a bound."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.jobs.scene import (
    NOW,
    after,
    answer_trials,
    answer_week,
    failed,
    job,
    noon,
    trials,
    written,
)
from tests.browser.reader import Reader, rows, search, token

pytestmark = pytest.mark.asyncio(loop_scope="session")


@asynccontextmanager
async def clicks(page: Page, most: int) -> AsyncIterator[None]:
    """At most so many, by the page's own count."""
    await page.evaluate(
        "window.clicks = 0; document.addEventListener('pointerdown', () => { clicks += 1 }, {capture: true})"
    )
    yield
    assert await page.evaluate("clicks") <= most


async def test_everything_of_a_person_is_stopped_by_three_clicks(reader: Reader) -> None:
    page, bodies = reader.page, list[object]()
    ann = [job(number, "accepted", NOW - timedelta(seconds=number)) for number in range(1, 52)]
    ann.insert(0, job(0, "running", NOW))
    mine = [job(99, "running", NOW, owner="mia")]
    await answer_week(page, [*mine, *ann, job(200, "succeeded", noon(1))])

    async def answer(route: Route) -> None:
        bodies.append(json.loads(route.request.post_data or ""))
        for one in ann:
            one |= {"state": "cancelled", "endedAt": written(NOW)}
        ended = [{"id": one["id"], "name": one["name"], "state": "cancelled"} for one in ann]
        await route.fulfill(status=202, json={"jobs": ended, "refused": []})

    await page.route("**/api/jobs/cancel", answer)
    await page.reload()
    await expect(rows(page).first).to_be_visible()
    async with clicks(page, 3):
        await page.keyboard.press("/")
        await page.keyboard.type("owner:ann@example.com ")
        await expect(token(page, "owner: ann@example.com")).to_be_visible()
        await page.get_by_role("checkbox", name="All that fit the search").check()
        await page.get_by_role("button", name="Cancel 52", exact=True).click()
        await expect(page.get_by_role("dialog")).to_contain_text("1 running51 accepted")
        await page.get_by_role("button", name="Cancel 52 jobs").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)

    conditions = {"owner": "ann@example.com", "state": "active", "until": after(NOW)}
    assert bodies == [{"conditions": conditions, "expected": 52}]
    await expect(rows(page).filter(has_text="cancelled")).not_to_have_count(0)


async def test_the_jobs_of_last_tuesday_are_found_by_typing_its_name(reader: Reader) -> None:
    page = reader.page
    back = (NOW.weekday() - 1) % 7 or 7
    jobs = [job(number, "succeeded", noon(number), name=f"of-{number}-days-ago") for number in range(9)]
    await answer_week(page, jobs)
    await page.reload()
    await expect(rows(page)).to_have_count(9)
    async with clicks(page, 1):
        await page.keyboard.press("/")
        await page.keyboard.type("tuesday")
        await page.get_by_role("option").last.click()

        await expect(page.get_by_role("link", name=f"of-{back}-days-ago")).to_be_visible()
    await expect(rows(page)).to_have_count(1)
    day = datetime.now().astimezone() - timedelta(days=back)
    await expect(token(page, f"on: {day.strftime('%a')}".strip())).to_have_count(0)  # its text has the date
    await expect(page.get_by_role("button", name=re.compile("^Remove on: Tue"))).to_be_visible()
    await expect(search(page)).to_have_value("")
    await page.keyboard.press("Backspace")
    await expect(rows(page)).to_have_count(9)


async def test_when_a_job_starts_is_read_in_the_list(reader: Reader) -> None:
    page = reader.page
    start = {"earliest": written(NOW), "latest": written(NOW + timedelta(minutes=30)), "why": "x"}
    waits = {"word": "TeamQuota", "text": "2 of 2 nodes are in use", "since": written(NOW)}
    await answer_week(page, [job(1, "queued", NOW, waiting=waits, expectedStart=start)])

    await page.reload()

    local = await page.evaluate(
        "at => new Date(at).toLocaleTimeString(undefined, {hour: '2-digit', minute: '2-digit'})",
        start["latest"],
    )
    await expect(rows(page).first).to_contain_text(f"starts by {local}")


@pytest.mark.parametrize(
    ("metric", "goal", "best"),
    [("loss", "lowest", "tune-00"), ("loss", "highest", "tune-00"), ("score", "highest", "tune-11")],
)
async def test_the_best_of_twelve_trials_is_found_by_two_clicks(
    reader: Reader, metric: str, goal: str, best: str
) -> None:
    page = reader.page
    await answer_trials(page, trials())
    await reader.open("jobs?sweep=s_1")
    await expect(page.get_by_text("12 of 12 jobs report it.")).to_be_visible()
    choice = page.get_by_label("Metric")
    async with clicks(page, 2):
        if await choice.input_value() != metric:
            await choice.select_option(metric)
        button = page.get_by_role("button", name=goal, exact=True)
        if await button.get_attribute("aria-pressed") != "true":
            await button.click()
        first = page.get_by_role("table", name="Jobs").get_by_role("row").nth(1)
        await expect(first.get_by_role("link")).to_have_text(best)
    summary = page.get_by_role("region", name="Sweep")
    await expect(summary).to_contain_text(f"{metric}, the {goal}")
    await expect(summary).to_contain_text(best)


async def test_a_cause_is_one_line_though_two_hundred_jobs_have_it(reader: Reader) -> None:
    page = reader.page
    jobs = [failed(number, noon(1) - timedelta(seconds=number)) for number in range(200)]
    other = {"lastError": "KeyError: x", "signature": "KeyError: x"}
    await answer_week(page, [*jobs, job(300, "failed", noon(1) - timedelta(hours=1), **other)])

    await page.reload()

    await expect(rows(page)).to_have_count(2)
    await expect(rows(page).nth(0)).to_contain_text("200 jobs, one error")
    await expect(rows(page).nth(1)).to_contain_text("KeyError: x")
