"""Who goes on and comes back finds the list as they left it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.conftest import KEY
from tests.browser.one_job.live import live
from tests.browser.reader import Reader, answer_jobs, listed, search, sign_out, token
from tests.browser.watched import watched_page

pytestmark = pytest.mark.asyncio(loop_scope="session")


#: A value of each condition in an address, also of those that no one types any more, and its token.
FILTERS = {
    "state": "failed",
    "name": "train",
    "experiment": "vision & more",
    "cluster": "gpu",
    "label": "team=vision",
    "owner": "ann@example.com",
    "team": "vision",
    "source": "drop",
    "error": "shard # is",
    "since": "1d",
    "until": "2h",
}
TOKENS = FILTERS | {"since": "1d ago", "until": "2h ago"}


async def open_long_list(reader: Reader) -> None:
    """A list of six hundred jobs in three answers; each job can be opened."""

    def jobs(query: Mapping[str, str]) -> dict[str, Any]:
        start = int(query.get("after", "0"))
        following = None if start == 400 else str(start + 200)
        return {"jobs": [listed(number) for number in range(start, start + 200)], "next": following}

    async def answer(route: Any) -> None:
        number = int(urlsplit(route.request.url).path.split("/")[-2].rpartition("-")[2])
        await route.fulfill(json=live({**listed(number), "history": []}))

    await answer_jobs(reader.page, jobs)
    await reader.page.route("**/api/jobs/job-*/live?*", answer)
    await reader.open("jobs")


async def test_the_list_is_where_it_was_left(reader: Reader) -> None:
    page = reader.page
    await open_long_list(reader)
    table = page.get_by_role("table", name="Jobs")
    await expect(table).to_have_attribute("aria-rowcount", "202")
    for count in (402, 602):
        await page.locator(".rows").evaluate("box => { box.scrollTop = 1e9; }")
        await expect(table).to_have_attribute("aria-rowcount", str(count))
    await page.locator(".rows").evaluate("box => { box.scrollTop = 500 * 56; }")
    await page.get_by_role("link", name="train-000503").click()
    await expect(page).to_have_title("train-000503 succeeded · Slipway")

    await page.go_back()

    await expect(page.get_by_role("link", name="train-000503")).to_be_in_viewport()
    assert await page.locator(".rows").evaluate("box => box.scrollTop") == 500 * 56
    await expect(page).to_have_title("Jobs · Slipway")
    await page.go_forward()
    await page.locator(".crumbs").get_by_role("link", name="Jobs", exact=True).click()
    await expect(page.get_by_role("link", name="train-000503")).to_be_in_viewport()


async def test_a_link_back_leads_to_the_list_with_its_filters(reader: Reader) -> None:
    page = reader.page
    await open_long_list(reader)
    await search(page).press_sequentially("experiment:vision ")
    await expect(page).to_have_url(f"{reader.url}#/jobs?experiment=vision")
    await page.get_by_role("link", name="train-000001").click()

    await page.locator(".crumbs").get_by_role("link", name="Jobs", exact=True).click()

    await expect(page).to_have_url(f"{reader.url}#/jobs?experiment=vision")
    await expect(token(page, "experiment: vision")).to_be_visible()


async def test_the_list_of_one_caller_is_not_shown_to_the_next(reader: Reader) -> None:
    page = reader.page
    await open_long_list(reader)
    await expect(page.get_by_role("link", name="train-000001")).to_be_visible()
    await page.unroute_all()
    await page.route("**/api/jobs?*", lambda route: route.fulfill(json={"jobs": [], "next": None}))
    key = await page.evaluate("sessionStorage.getItem('slipway-credential')")

    await sign_out(page)
    await page.get_by_label("Function key").fill(f"{key.removeprefix('key ')}")
    shown = page.get_by_role("link", name="train-000001")
    await page.get_by_role("button", name="Sign in").click()

    await expect(page.get_by_role("heading", name="There are no jobs yet")).to_be_visible()
    await expect(shown).to_have_count(0)


async def expect_filters(page: Page, address: str) -> None:
    await expect(page).to_have_url(address)
    for key, text in TOKENS.items():
        await expect(token(page, f"{key}: {text}")).to_have_count(1)
    await expect(search(page)).to_have_value("words of it")
    await expect(page.get_by_text("Loading…")).to_have_count(0)


@pytest.mark.parametrize("way", ["list", "group=experiment", "view=compare"])
async def test_an_address_with_filters_stays_and_shows_others_the_same(
    reader: Reader, browser: Browser, way: str
) -> None:
    jobs = [listed(number, experiment="vision & more", labels={"lr": f"0.{number}"}) for number in (1, 2)]
    answer = {"jobs": jobs, "next": None}
    filters = FILTERS | {"contains": "words of it"}
    address = f"{reader.url}#/jobs?{urlencode(filters)}" + ("" if way == "list" else f"&{way}")
    page, addresses = reader.page, await answer_jobs(reader.page, lambda _: answer)
    await page.goto(address)
    await expect_filters(page, address)
    query = dict(parse_qsl(urlsplit(addresses[-1]).query))
    assert query.items() >= {**filters, "name": "train*"}.items()

    await page.reload()
    await expect_filters(page, address)
    await page.get_by_role("link", name="Clusters", exact=True).click()
    await expect(page.get_by_role("heading", level=1, name="Clusters")).to_be_visible()
    await page.go_back()
    await expect_filters(page, address)

    async with watched_page(browser) as other:
        await answer_jobs(other, lambda _: answer)
        await other.goto(address)
        await other.get_by_label("Function key").fill(KEY)
        await other.get_by_role("button", name="Sign in").click()
        await expect_filters(other, address)
