"""The view of a sweep: the best so far, progress, curves over each other, and columns to sort by."""

from __future__ import annotations

import asyncio
import re

import pytest
from playwright.async_api import Route, expect

from tests.browser.jobs.scene import answer_trials, trials
from tests.browser.reader import PATIENCE, Reader

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def open_trials(reader: Reader, more: str = "") -> None:
    await answer_trials(reader.page, trials())
    await reader.open(f"jobs?sweep=s_1{more}")
    await reader.page.reload()
    await expect(reader.page.get_by_text("12 of 12 jobs report it.")).to_be_visible()


async def names(reader: Reader) -> list[str]:
    return await reader.page.get_by_role("table", name="Jobs").locator("td.of-job a").all_text_contents()


async def test_a_sweep_says_its_best_value_how_far_it_is_and_what_failed(reader: Reader) -> None:
    page = reader.page
    await open_trials(reader)

    summary = page.get_by_role("region", name="Sweep")
    for text in ("tune, a sweep of 12 jobs, at most 3 at once", "1 loss, the lowest", "tune-00"):
        await expect(summary).to_contain_text(text)
    for text in ("11 of 12 have ended", "0 waiting, 1 at work", "10 succeeded", "1 failed"):
        await expect(summary).to_contain_text(text)
    await expect(page.get_by_role("figure", name="loss of 12 jobs").locator("canvas")).to_be_visible()
    heads = page.get_by_role("table", name="Jobs").get_by_role("columnheader")
    await expect(heads).to_contain_text(["State", "Job", "lr", "kind", "loss, lowest", "loss, last", "Ran"])
    assert "cpu_percent" not in await page.get_by_label("Metric").inner_text()
    assert await reader.violations_everywhere() == []


async def test_the_best_of_a_wide_sweep_is_looked_for_among_all_of_its_jobs(reader: Reader) -> None:
    page, jobs, go_on = reader.page, trials(130), asyncio.Event()
    await answer_trials(page, jobs)

    async def in_pages(route: Route) -> None:
        is_older = "after=" in route.request.url
        answer = {"jobs": jobs[100:] if is_older else jobs[:100], "next": None if is_older else "p2"}
        await route.fulfill(json=answer)

    async def late(route: Route) -> None:
        await go_on.wait()
        await route.fallback()

    await page.route(re.compile(r"/api/jobs\?"), in_pages)
    await page.route("**/api/jobs/job-000129/metrics*", late)
    await page.goto("about:blank")  # what was read before is forgotten
    await reader.open("jobs?sweep=s_1&metric=score")

    big = page.get_by_role("region", name="Sweep").locator(".big").first
    await expect(big).to_contain_text("1.78 of 129 of 130 jobs score, the highest", timeout=PATIENCE)
    go_on.set()
    await expect(big).to_have_text("1.79 score, the highest")
    await expect(page.get_by_text("130 of 130 jobs report it. The best 100 are drawn.")).to_be_visible()
    assert (await names(reader))[0] == "tune-129"


async def test_jobs_are_sorted_by_any_column_and_the_address_keeps_it(reader: Reader) -> None:
    page = reader.page
    await open_trials(reader)
    assert await names(reader) == [f"tune-{number:02}" for number in range(12)]  # by the best value

    await page.get_by_role("button", name="loss, last").click()
    await expect(page.get_by_role("columnheader", name="loss, last")).to_have_attribute(
        "aria-sort", "ascending"
    )
    assert await names(reader) == [f"tune-{number:02}" for number in reversed(range(12))]
    await page.get_by_role("button", name="lr").click()
    await page.get_by_role("button", name="lr").click()
    await expect(page.get_by_role("columnheader", name="lr")).to_have_attribute("aria-sort", "descending")
    assert {name[-2:] for name in (await names(reader))[:3]} == {"00", "04", "08"}
    await page.reload()
    await expect(page.get_by_role("columnheader", name="lr")).to_have_attribute("aria-sort", "descending")
    await expect(page.get_by_text("12 of 12 jobs report it.")).to_be_visible()
    await page.get_by_role("button", name="kind").click()
    assert [int(name[-2:]) % 2 for name in await names(reader)] == [0] * 6 + [1] * 6


async def test_ended_jobs_are_read_once_and_those_that_go_on_in_turn(reader: Reader) -> None:
    page, calls = reader.page, list[str]()
    page.on("request", lambda request: calls.append(request.url) if "/metrics" in request.url else None)
    await open_trials(reader)
    await page.get_by_role("link", name="List", exact=True).click()
    await expect(page.get_by_role("link", name="tune-03")).to_be_visible()
    before = len(calls)

    await page.get_by_role("navigation", name="Ways").get_by_role("link", name="Sweep", exact=True).click()
    await expect(page.get_by_text("12 of 12 jobs report it.")).to_be_visible()

    assert {url for url in calls[before:] if "job-000011" not in url} == set()


async def test_a_sweep_without_numbers_shows_its_jobs_by_name(reader: Reader) -> None:
    page = reader.page
    await answer_trials(page, trials())
    nothing = {"detail": "it has no metrics"}
    await page.route("**/api/jobs/job-*/metrics*", lambda route: route.fulfill(status=404, json=nothing))
    await page.goto("about:blank")  # what was read before is forgotten
    await reader.open("jobs?sweep=s_1")

    await expect(page.get_by_text("No job has reported numbers yet.")).to_be_visible()
    await expect(page.get_by_role("region", name="Sweep")).to_contain_text("no value yet")
    assert await names(reader) == [f"tune-{number:02}" for number in range(12)]


async def test_on_a_telephone_the_values_of_the_metric_are_in_view(reader: Reader) -> None:
    page = reader.page
    await page.set_viewport_size({"width": 390, "height": 844})
    await open_trials(reader)

    row = page.get_by_role("table", name="Jobs").get_by_role("row").nth(1)
    for cell in ("of-job", "of-value", "of-best"):
        box = await row.locator(f".{cell}").first.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
