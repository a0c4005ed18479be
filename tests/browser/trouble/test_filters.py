"""Filters that are typed while the reader does something else."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.one_job.live import answer_live
from tests.browser.reader import Reader, answer_jobs, comes, listed, search, token

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def open_list(reader: Reader) -> None:
    """Two jobs of an experiment, and a clock that stands still until a test sets it on."""
    page = reader.page
    jobs = [listed(number, experiment="vision") for number in (1, 2)]
    await answer_jobs(page, lambda _: {"jobs": jobs, "next": None})
    await answer_live(page, {**listed(1), "history": []})
    await page.clock.install()
    await page.reload()
    await expect(page.get_by_role("link", name="train-000001")).to_be_visible()
    await page.clock.pause_at(4_000_000_000_000)


async def test_a_filter_that_was_typed_takes_no_reader_back_who_has_gone_on(reader: Reader) -> None:
    page = reader.page
    await open_list(reader)
    await search(page).fill("vis")
    await page.get_by_role("link", name="train-000001").click()
    await expect(page).to_have_url(f"{reader.url}#/jobs/job-000001")

    await page.clock.run_for(1000)

    await comes(page.get_by_role("heading", name="train-000001"))
    await expect(page).to_have_url(f"{reader.url}#/jobs/job-000001")


async def test_a_filter_that_was_typed_leaves_the_way_to_see_the_jobs_that_was_chosen_after_it(
    reader: Reader,
) -> None:
    page = reader.page
    await open_list(reader)
    await search(page).fill("vision")
    await page.get_by_role("link", name="By experiment").click()
    await expect(page).to_have_url(f"{reader.url}#/jobs?group=experiment")

    await page.clock.run_for(1000)

    await expect(page).to_have_url(f"{reader.url}#/jobs?group=experiment&contains=vision")


async def test_of_filters_that_are_changed_at_once_none_is_lost(reader: Reader) -> None:
    page = reader.page
    await open_list(reader)
    await search(page).press_sequentially("experiment:vision train")
    await page.get_by_role("button", name="succeeded").click()
    await page.get_by_role("button", name="end", exact=True).click()

    await page.clock.run_for(1000)

    address = f"{reader.url}#/jobs?experiment=vision&state=succeeded&order=ended&contains=train"
    await expect(page).to_have_url(address)


async def test_what_was_typed_before_all_filters_were_taken_away_does_not_come(reader: Reader) -> None:
    page = reader.page
    await open_list(reader)
    await page.get_by_role("button", name="succeeded").click()
    await search(page).press_sequentially("team:vision train")
    await page.get_by_role("button", name="Clear the search").click()

    await page.clock.run_for(1000)

    await expect(page).to_have_url(f"{reader.url}#/jobs")
    await expect(search(page)).to_have_value("")
    await expect(token(page, "team: vision")).to_have_count(0)
