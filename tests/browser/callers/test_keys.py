"""Signing in with a key that has a name, and what its holder is offered: a stack of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.acceptance.door import Door
from tests.acceptance.keys.keyed import KEYS, keyed_stack, submit
from tests.browser.reader import Reader, sign_out

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def keyed(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    async with keyed_stack(tmp_path_factory.mktemp("keyed")) as opened:
        yield opened


async def enter(page: Page, key: str) -> None:
    await page.get_by_label("Function key").fill(key)
    await page.get_by_role("button", name="Sign in").click()


async def test_a_member_signs_in_with_a_key_and_is_offered_what_the_team_allows(
    page: Page, keyed: Door
) -> None:
    visitor = Reader(page, f"{keyed.stack.host_url}/api/ui/")
    own, managers, others = [await submit(keyed, who) for who in ("bob", "mia", "liv")]
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    await visitor.open("jobs")
    await enter(page, "no-such-key")
    await expect(page.get_by_role("alert")).to_contain_text("is not a named key of this deployment")
    await expect(page.get_by_role("table")).to_have_count(0)
    await sign_out(page)

    await enter(page, KEYS["bob"])

    for job in (own, managers):
        await expect(page.locator(f"a[href='#/jobs/{job}']")).to_be_visible()
    await expect(page.locator(f"a[href='#/jobs/{others}']")).to_have_count(0)
    await visitor.open(f"jobs/{own}")
    await expect(cancel).to_be_visible()
    await visitor.open(f"jobs/{managers}")
    await expect(page.get_by_role("heading", name="Events")).to_be_visible()
    await expect(cancel).to_have_count(0)
    await visitor.open(f"jobs/{others}")
    await expect(page.get_by_role("alert")).to_contain_text("This job does not exist")
    await visitor.open("new")
    await expect(page.get_by_role("button", name="Submit")).to_be_visible()
    await visitor.open("usage")
    await expect(page.get_by_role("region", name="Teams").get_by_role("link", name="speech")).to_be_visible()
    await expect(page.get_by_role("link", name="vision")).to_have_count(0)
    await visitor.open("operate")
    await expect(page.get_by_role("button", name="Pause submissions")).to_have_count(0)
    for heading in ("Dead letters", "Who did what"):
        await expect(page.get_by_role("heading", name=heading)).to_have_count(0)
    assert await visitor.violations() == []
    assert KEYS["bob"] not in page.url
    assert KEYS["bob"] not in await page.evaluate("JSON.stringify(localStorage) + document.cookie")
