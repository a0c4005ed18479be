"""The keys of every view, and the first stop of Tab."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.overview.answers import busy
from tests.browser.reader import Reader, account, answer_tagged

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_two_keys_lead_to_a_view(reader: Reader) -> None:
    page = reader.page
    await answer_tagged(page, "**/api/overview?*", busy())

    for keys, heading in (("go", "Overview"), ("gc", "Clusters"), ("gj", "Jobs")):
        for key in keys:
            await page.keyboard.press(key)
        await expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible()


async def test_what_someone_writes_is_not_a_key(reader: Reader) -> None:
    page = reader.page
    await reader.open("new")
    text = page.get_by_label("job.json")
    await text.fill("")

    await text.press_sequentially("go?/")

    await expect(text).to_contain_text("go?/")
    await expect(page.get_by_role("heading", name="New job", level=1)).to_be_visible()
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_a_dialog_lists_the_keys_and_gives_the_focus_back(reader: Reader) -> None:
    page = reader.page
    await account(page).focus()

    await page.keyboard.press("?")

    dialog = page.get_by_role("dialog", name="Keys")
    await expect(dialog).to_contain_text("search for jobs")
    assert await reader.violations() == []
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(account(page)).to_be_focused()


async def test_the_menu_opens_the_same_dialog(reader: Reader) -> None:
    page = reader.page
    await account(page).click()

    await page.get_by_role("button", name="Keys").click()

    await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    await page.get_by_role("button", name="Close").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_the_first_stop_of_tab_skips_to_the_first_entry(reader: Reader) -> None:
    page = reader.page
    await answer_tagged(page, "**/api/overview?*", busy())
    await reader.open("")
    await page.reload()
    await expect(page.get_by_role("heading", name="Needs attention")).to_be_visible()

    await page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the list")
    await expect(skip).to_be_focused()
    await expect(skip).to_be_in_viewport()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")

    await expect(page.get_by_role("link", name="too-big", exact=True)).to_be_focused()
