"""Tabs of one browser: who has signed in in one is known in the others, and who signs out is so in all."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Page, expect

from tests.acceptance.door import Door
from tests.browser.conftest import KEY
from tests.browser.reader import Reader, account, sign_out
from tests.browser.watched import watched_page

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def new_tab(reader: Reader, address: str = "clusters") -> Page:
    """Another tab of the same browser, as a link opens it that is followed in a new tab."""
    tab = await reader.page.context.new_page()
    await tab.goto(f"{reader.url}#/{address}")
    return tab


async def test_a_new_tab_does_not_ask_again(reader: Reader) -> None:
    tab = await new_tab(reader)

    await expect(tab.get_by_role("heading", name="Clusters", level=1)).to_be_visible()
    assert await tab.evaluate("Object.values(localStorage).length + document.cookie.length") == 0
    assert KEY not in tab.url


async def test_who_signs_in_is_signed_in_in_every_tab_that_asks(page: Page, door: Door) -> None:
    reader = Reader(page, f"{door.stack.host_url}/api/ui/")
    await page.goto(reader.url)
    await expect(page.get_by_label("Function key")).to_be_visible()
    tab = await new_tab(reader)
    await expect(tab.get_by_label("Function key")).to_be_visible()

    await tab.get_by_label("Function key").fill(KEY)
    await tab.get_by_role("button", name="Sign in").click()

    await expect(tab.get_by_role("heading", name="Clusters", level=1)).to_be_visible()
    await expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()


async def test_who_signs_out_is_signed_out_in_every_tab(reader: Reader) -> None:
    tab = await new_tab(reader)
    await expect(account(tab)).to_be_visible()

    await sign_out(tab)

    for one in (tab, reader.page):
        await expect(one.get_by_label("Function key")).to_be_visible()
        assert await one.evaluate("sessionStorage.length") == 0


async def test_another_browser_knows_nothing(reader: Reader, browser: Browser) -> None:
    async with watched_page(browser) as other:
        await other.goto(reader.url)

        await expect(other.get_by_label("Function key")).to_be_visible()


async def test_the_last_tab_takes_it_along(reader: Reader) -> None:
    await reader.page.goto("about:blank")

    tab = await reader.page.context.new_page()
    await tab.goto(reader.url)

    await expect(tab.get_by_label("Function key")).to_be_visible()


async def test_tabs_of_another_deployment_behind_the_same_proxy_hear_nothing(
    reader: Reader, door: Door
) -> None:
    tab = await reader.page.context.new_page()
    await tab.route(
        "**/team/jobs/**", lambda route: route.continue_(url=route.request.url.replace("/team/jobs", ""))
    )

    await tab.goto(f"{door.stack.host_url}/team/jobs/api/ui/")

    await expect(tab.get_by_label("Function key")).to_be_visible()


async def test_a_tab_that_was_elsewhere_at_a_sign_out_comes_back_signed_out(reader: Reader) -> None:
    tab = await new_tab(reader)
    await expect(account(tab)).to_be_visible()
    await reader.page.goto("about:blank")

    await sign_out(tab)
    await reader.page.go_back()

    await expect(reader.page.get_by_label("Function key")).to_be_visible()
    await tab.reload()
    await expect(tab.get_by_label("Function key")).to_be_visible()
    assert await reader.page.evaluate("sessionStorage.getItem('slipway-credential')") is None


@pytest.mark.parametrize(
    "message",
    [
        "null",
        "'this'",
        "{say: 'this'}",
        "{say: 'this', credential: {kind: 'key', text: 'مرحبا'}}",
        "{say: 'this', credential: {kind: 'key', text: 'a\\nb'}}",
        "{say: 'this', credential: {kind: 'cookie', text: 'a'}}",
    ],
)
async def test_what_is_not_a_message_of_a_tab_is_not_taken(page: Page, door: Door, message: str) -> None:
    await page.goto(f"{door.stack.host_url}/api/ui/")
    await expect(page.get_by_label("Function key")).to_be_visible()
    other = await page.context.new_page()
    await other.goto(f"{door.stack.host_url}/api/ui/")
    await expect(other.get_by_label("Function key")).to_be_visible()

    await other.evaluate(f"new BroadcastChannel('slipway /api/').postMessage({message})")
    await page.reload()

    await expect(page.get_by_label("Function key")).to_be_visible()
    assert await page.evaluate("sessionStorage.getItem('slipway-credential')") is None
