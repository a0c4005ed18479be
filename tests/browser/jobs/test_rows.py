"""A list that changes while someone reads it, and the row that the keyboard reaches."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.browser.reader import Reader, answer_jobs, listed

pytestmark = pytest.mark.asyncio(loop_scope="session")
TOP = "document.querySelector('.rows').getBoundingClientRect().top"


async def open_list(reader: Reader, jobs: list[dict[str, Any]]) -> None:
    """The view of these jobs, which may be changed while it is open."""
    await reader.page.clock.install()
    await answer_jobs(reader.page, lambda _: {"jobs": list(jobs), "next": None})
    await reader.page.reload()
    await expect(reader.page.get_by_role("link", name=jobs[0]["name"])).to_be_visible()


async def place_of(page: Page, name: str) -> float:
    link = page.get_by_role("link", name=name)
    place: float = await link.evaluate(f"link => link.getBoundingClientRect().top - {TOP}")
    return place


async def test_jobs_that_come_in_above_move_no_row_under_the_readers_eyes(reader: Reader) -> None:
    page, jobs = reader.page, [listed(number) for number in range(100, 200)]
    await open_list(reader, jobs)
    await page.evaluate("document.querySelector('.rows').scrollTop = 3000")
    await expect(page.get_by_role("link", name="train-000155")).to_be_visible()
    before = await place_of(page, "train-000155")

    jobs[:0] = [listed(number) for number in range(97, 100)]
    await page.clock.run_for(20_000)

    await expect(page.get_by_role("table", name="Jobs")).to_have_attribute("aria-rowcount", "105")
    assert await place_of(page, "train-000155") == before


async def test_at_the_top_the_newest_job_is_seen_at_once(reader: Reader) -> None:
    page, jobs = reader.page, [listed(number) for number in range(100, 200)]
    await open_list(reader, jobs)

    jobs[:0] = [listed(99)]
    await page.clock.run_for(20_000)

    await expect(page.get_by_role("link", name="train-000099")).to_be_in_viewport()


async def test_the_keyboard_goes_on_from_the_job_that_it_chose_though_others_come_in(reader: Reader) -> None:
    page, jobs = reader.page, [listed(number) for number in range(100, 200)]
    await open_list(reader, jobs)
    await page.get_by_role("link", name="train-000100").focus()
    for _ in range(2):
        await page.keyboard.press("ArrowDown")
        await page.clock.run_for(50)
    await expect(page.get_by_role("link", name="train-000102")).to_be_focused()

    jobs[:0] = [listed(number) for number in range(97, 100)]
    await page.clock.run_for(20_000)
    await expect(page.get_by_role("link", name="train-000097")).to_be_visible()
    await page.keyboard.press("ArrowDown")
    await page.clock.run_for(50)

    await expect(page.get_by_role("link", name="train-000103")).to_be_focused()


async def test_a_row_in_view_is_reached_by_tab_after_the_list_was_scrolled(reader: Reader) -> None:
    page = reader.page
    await open_list(reader, [listed(number) for number in range(100, 300)])

    await page.evaluate("document.querySelector('.rows').scrollTop = 6000")
    await expect(page.get_by_role("link", name="train-000205")).to_be_visible()

    reachable = page.locator(".rows a[tabindex='0']")
    await expect(reachable).to_have_count(1)
    await expect(reachable).to_be_in_viewport()
