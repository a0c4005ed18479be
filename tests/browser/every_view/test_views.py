"""Every view: the keyboard, axe, less motion, back and forward, an outage, and what an idle one costs."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Request, expect

from tests.browser.every_view.motion import MOVES
from tests.browser.every_view.views import RUNNING, open_view, pass_time
from tests.browser.reader import Reader

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_every_control_is_reached_by_the_keyboard_alone_and_shows_its_focus(resting: Reader) -> None:
    page = resting.page
    controls = await page.evaluate(
        """() => {
            const all = [...document.querySelectorAll('a, button, input, select, textarea, [role=log]')];
            const usable = all.filter(one => one.tabIndex >= 0 && !one.disabled && one.checkVisibility());
            usable.forEach((one, index) => { one.dataset.control = index; });
            document.activeElement.blur();
            return usable.length;
        }"""
    )
    reached = set()
    for _ in range(controls + 5):
        await page.keyboard.press("Tab")
        index, outline = await page.evaluate(
            "[document.activeElement.dataset.control, getComputedStyle(document.activeElement).outlineStyle]"
        )
        if index is not None:
            reached.add(index)
            assert outline != "none", index

    assert len(reached) == controls


async def test_every_view_is_accessible_in_light_and_dark_and_fits_every_width(resting: Reader) -> None:
    assert await resting.violations_everywhere() == []


async def test_nothing_moves_where_less_motion_is_asked_for(resting: Reader) -> None:
    page = resting.page
    await page.emulate_media(reduced_motion="reduce")

    assert await page.evaluate(MOVES) == []
    await page.emulate_media(reduced_motion="null")


async def test_a_view_comes_again_when_it_is_loaded_again_and_after_back_and_forward(resting: Reader) -> None:
    page = resting.page
    heading = await page.get_by_role("heading", level=1).inner_text()
    address = page.url

    await page.reload()
    await expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    elsewhere = "Clusters" if address.endswith("operate") else "Operate"
    await page.get_by_role("navigation", name="Views").get_by_role("link", name=elsewhere).click()
    await expect(page.get_by_role("heading", level=1, name=elsewhere)).to_be_visible()
    await page.go_back()

    await expect(page).to_have_url(address)
    await expect(page.get_by_role("heading", level=1)).to_have_text(heading)


async def test_an_idle_view_asks_four_times_a_minute_at_most_and_a_hidden_one_never(resting: Reader) -> None:
    page, calls = resting.page, list[str]()

    def count(request: Request) -> None:
        if "/api/" in request.url and "/api/ui/" not in request.url:
            calls.append(request.url)

    # It looks more often just after a change: the longest pause begins after 90 s, and ends after 140 s.
    await pass_time(page, 180, step=5)
    page.on("request", count)

    await pass_time(page, 60)

    assert len(calls) <= 4, calls
    await page.evaluate(
        "Object.defineProperty(document, 'hidden', {get: () => true, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    calls.clear()
    await pass_time(page, 60, step=5)
    assert calls == []
    page.remove_listener("request", count)
    await page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")


@pytest.mark.parametrize("view", ["overview", "jobs", "clusters", "operate", RUNNING, f"{RUNNING}/log"])
async def test_a_view_says_that_the_deployment_does_not_answer_and_recovers(
    reader: Reader, ended: str, view: str
) -> None:
    page = reader.page
    await page.clock.install()
    await open_view(reader, view, ended)
    heading = await page.get_by_role("heading", level=1).inner_text()

    async def fail(route: Any) -> None:
        await (route.fallback() if "/api/ui/" in route.request.url else route.abort())

    await page.route("**/api/**", fail)
    await pass_time(page, 90)

    await expect(page.get_by_role("alert").first).to_contain_text("does not answer")
    assert await page.get_by_role("heading", level=1).inner_text() == heading
    await page.unroute("**/api/**", fail)
    await pass_time(page, 70)
    await expect(page.get_by_role("alert")).to_have_count(0)
