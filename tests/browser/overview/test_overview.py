"""The first screen: what is stuck and why, what failed, what is free, who used what. No click, one call."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Page, Route, expect

from tests.browser.every_view.views import pass_time
from tests.browser.overview.answers import LONG, busy, failure, new
from tests.browser.reader import SCHEMES, Reader, account, answer_tagged, hold

pytestmark = pytest.mark.asyncio(loop_scope="session")
OVERVIEW = re.compile(r"/api/overview\?")


@pytest_asyncio.fixture(loop_scope="session")
async def work(reader: Reader) -> AsyncIterator[Reader]:
    """A reader whose deployment has work, before the first screen."""
    await answer_tagged(reader.page, "**/api/overview?*", busy())
    await reader.open("")
    await expect(reader.page.get_by_role("heading", name="Needs attention")).to_be_visible()
    yield reader


async def test_what_is_stuck_and_why_is_there_without_a_click(work: Reader) -> None:
    page = work.page

    attention = page.get_by_role("list", name="Needs attention").get_by_role("listitem")
    await expect(attention.nth(0)).to_contain_text("too-big can never start")
    await expect(attention.nth(0)).to_contain_text("it asks for 9 nodes, gpu has at most 6")
    await expect(attention.nth(1)).to_contain_text("metrics-running is idle")
    reasons = page.get_by_role("list", name="Waiting, by reason").get_by_role("listitem")
    await expect(reasons.nth(1)).to_contain_text(
        "53Quota of the team visionnext is nightly-003 · 2 of 2 nodes in use"
    )
    await expect(reasons.nth(1)).to_contain_text(re.compile(r"oldest 3\d min, room within 2\d min"))
    await expect(reasons.nth(3)).to_contain_text("Turn in the sweep tune-lr")
    await expect(page.get_by_role("link", name=re.compile("^Waiting 117 oldest"))).to_contain_text(
        "103 for a quota, 12 for their sweep"
    )


async def test_it_is_one_call_and_who_calls(work: Reader) -> None:
    calls = list[str]()
    work.page.on("request", lambda request: calls.append(urlsplit(request.url).path))

    await work.page.reload()
    await expect(work.page.get_by_role("heading", name="Ended last")).to_be_visible()

    assert sorted(call for call in calls if "/api/ui/" not in call) == ["/api/me", "/api/overview"]


async def test_equal_failures_are_one_line_that_leads_to_them(work: Reader) -> None:
    page = work.page
    line = page.get_by_role("list", name="Needs attention").get_by_role("listitem").nth(2)
    await expect(line).to_contain_text("18 jobs failed with the same error")
    await expect(line).to_contain_text("AssertionError: shard 17 is empty")

    await line.get_by_role("link", name="Show the 18").click()

    query = parse_qs(urlsplit(page.url).fragment.partition("?")[2])
    assert query["error"] == ["AssertionError: shard # is empty"]


async def test_what_a_team_used_and_reserved_is_there_and_a_click_shows_every_month(work: Reader) -> None:
    page = work.page
    vision = page.get_by_role("list", name="Use in November").get_by_role("listitem").nth(0)
    await expect(vision).to_contain_text("41 of 500 GPU-hours")
    await expect(vision).to_contain_text("126 GPU-hours reserved by 3 jobs")

    await page.get_by_role("link", name="Usage").last.click()

    await expect(page.get_by_role("heading", name="Usage", level=1)).to_be_visible()


async def test_running_jobs_have_their_limits_and_nodes_their_jobs(work: Reader) -> None:
    page = work.page

    jobs = page.get_by_role("list", name="Running").get_by_role("listitem")
    await expect(jobs.nth(0)).to_contain_text(re.compile(r"mia · vision · gpu1\d min of at most 28 min"))
    await expect(jobs.nth(1)).to_contain_text(re.compile(r"idle 2\d min"))
    await expect(jobs.nth(2).get_by_role("link")).to_have_attribute("title", LONG)
    cluster = page.get_by_role("region", name="gpu")
    await expect(cluster.get_by_role("listitem")).to_have_count(6)
    await expect(cluster).to_contain_text("4 running · 2 more when needed")
    await expect(page.get_by_role("link", name=re.compile("^Free now 2 of 6 nodes"))).to_be_visible()


async def test_hours_are_a_picture_with_a_sentence(work: Reader) -> None:
    picture = work.page.get_by_role(
        "img", name=re.compile("Jobs that ended, by the hour: 236 jobs succeeded")
    )

    await expect(picture).to_be_visible()


async def test_the_scope_is_asked_for_and_remembered(page: Page, reader: Reader) -> None:
    scopes = list[str]()

    async def answer(route: Route) -> None:
        (scope,) = parse_qs(urlsplit(route.request.url).query)["scope"]
        scopes.append(scope)
        await route.fulfill(json=busy(scope))

    caller = {
        "id": "ann@example.com",
        "roles": ["Jobs.Submit"],
        "teams": [{"name": "vision", "manager": False}],
    }
    await page.route("**/api/me", lambda route: route.fulfill(json=caller))
    await page.route(OVERVIEW, answer)
    await reader.open("")
    await page.reload()
    await expect(account(page)).to_contain_text("ann · vision")
    await page.get_by_role("link", name="Team vision", exact=True).click()
    await expect(page.get_by_role("link", name="Team vision", exact=True)).to_have_attribute(
        "aria-current", "true"
    )
    running = page.get_by_role("link", name=re.compile("^Running 3"))
    await expect(running).to_have_attribute("href", "#/jobs?state=running&team=vision")

    await reader.open("")
    await page.reload()

    await expect(page.get_by_role("link", name="Team vision", exact=True)).to_have_attribute(
        "aria-current", "true"
    )
    assert [*dict.fromkeys(scopes)] == ["all", "team"]


async def test_a_key_without_a_name_has_no_jobs_of_its_own(work: Reader) -> None:
    await expect(work.page.get_by_role("navigation", name="Whose jobs")).to_have_count(0)


async def test_a_deployment_that_has_just_begun_offers_the_example(reader: Reader) -> None:
    page = reader.page
    await answer_tagged(page, "**/api/overview?*", new())

    await reader.open("")

    await expect(page.get_by_role("heading", name="There are no jobs yet")).to_be_visible()
    await expect(page.get_by_role("button", name="Run the example")).to_be_visible()
    await expect(page.get_by_text("Nothing waits.")).to_be_visible()
    await expect(page.get_by_text("Nothing needs anyone.")).to_be_visible()
    await expect(page.get_by_text("Its nodes have not been counted yet.")).to_be_visible()
    assert await reader.violations() == []


async def test_many_errors_leave_room_for_the_rest_and_say_how_many_there_are(reader: Reader) -> None:
    page = reader.page
    errors = [failure(f"Error{'abcdefghij'[at]}", 2, f"a{at}", f"b{at}") for at in range(9)]
    left_out = dict.fromkeys(("waiting", "idle", "clusters", "use"), 0) | {"failures": 4}
    await answer_tagged(page, "**/api/overview?*", busy() | {"failures": errors, "leftOut": left_out})

    await reader.open("")

    await expect(page.get_by_role("link", name="8 further errors")).to_be_visible()


async def test_a_cluster_that_does_not_answer_needs_someone(reader: Reader) -> None:
    page = reader.page
    cluster = {"name": "gpu", "nodes": None, "at": busy()["since"]}
    await answer_tagged(page, "**/api/overview?*", busy() | {"clusters": [cluster]})

    await reader.open("")

    attention = page.get_by_role("list", name="Needs attention")
    await expect(attention.get_by_text("gpu does not answer")).to_be_visible()
    await expect(page.get_by_role("link", name=re.compile("^Free now"))).to_contain_text("is not counted")


async def test_grey_bars_hold_the_place_of_an_answer_that_is_late(reader: Reader) -> None:
    page = reader.page
    held = await hold(page, OVERVIEW)
    await reader.open("")

    await expect(page.locator(".bones > i").first).to_be_visible()
    await expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    await held[0].fulfill(json=busy())

    await expect(page.locator(".bones")).to_have_count(0)


async def test_an_open_overview_asks_at_most_six_times_a_minute_where_something_always_changes(
    reader: Reader,
) -> None:
    page, calls = reader.page, list[str]()

    async def answer(route: Route) -> None:
        calls.append(route.request.url)
        body: dict[str, Any] = busy()
        body["counts"]["succeeded"] += len(calls)
        await route.fulfill(json=body)

    await page.route("**/api/**", lambda route: route.fallback())
    await page.route(OVERVIEW, answer)
    await page.clock.install()
    await reader.open("")
    await expect(page.get_by_role("heading", name="Needs attention")).to_be_visible()
    calls.clear()

    await pass_time(page, 60)

    assert 1 <= len(calls) <= 6


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [1440, 1024, 390])
async def test_every_width_and_scheme_is_accessible_and_nothing_sticks_out(
    work: Reader, width: int, scheme: Any
) -> None:
    page = work.page
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": width, "height": 900})

    assert await work.violations() == []
    await account(page).click()
    await expect(page.get_by_role("group", name="Theme", exact=True)).to_be_visible()
    assert await work.violations() == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_at_the_width_of_a_telephone_the_first_numbers_are_seen_at_once(work: Reader) -> None:
    page = work.page
    await page.set_viewport_size({"width": 390, "height": 844})

    numbers = [await one.bounding_box() for one in await page.locator(".answer .big").all()]

    assert len(numbers) == 4
    assert all(box and box["y"] + box["height"] < 400 for box in numbers[:2])


@pytest.mark.parametrize("width", [1440, 1024, 390])
async def test_states_and_times_are_never_cut(work: Reader, width: int) -> None:
    page = work.page
    await page.set_viewport_size({"width": width, "height": 900})

    cut = await page.evaluate(
        """[...document.querySelectorAll('main .state, main time, main .right, main .big')]
            .filter(one => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
            .map(one => one.outerHTML)"""
    )

    assert cut == []


async def test_the_chosen_theme_outlives_the_tab(work: Reader) -> None:
    page = work.page
    await page.emulate_media(color_scheme="light")
    await account(page).click()

    await page.get_by_role("button", name="Dark").click()

    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 18, 23)"
    await page.reload()
    await expect(account(page)).to_be_visible()
    assert await page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    await account(page).click()
    await page.get_by_role("button", name="System").click()
    assert await page.evaluate("localStorage.length") == 0


async def test_on_paper_it_has_no_buttons_and_light_colours(work: Reader) -> None:
    page = work.page
    await page.emulate_media(media="print", color_scheme="dark")

    await expect(page.get_by_role("banner")).to_be_hidden()
    await expect(page.get_by_role("link", name="Show the 18")).to_be_hidden()
    await expect(page.get_by_role("heading", name="Needs attention")).to_be_visible()
    assert await page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
