"""A fix that comes too late: the writer has gone on."""

from __future__ import annotations

from contextlib import suppress

import pytest
from playwright.async_api import Error, expect

from tests.browser.reader import PATIENCE, Reader, hold

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_fix_is_not_offered_for_a_text_that_has_changed_since(reader: Reader) -> None:
    page = reader.page
    await reader.open("new")
    text = page.get_by_label("job.json")
    await text.fill('{"properties": {"nodeCuont": 2}}')
    fix = page.locator(".findings").get_by_role("button", name="Fix it").first
    await expect(fix).to_be_enabled(timeout=PATIENCE)
    mark = page.locator(".cm-lintRange-error").filter(has_text="nodeCuont")
    await mark.hover()
    offered = page.locator(".cm-diagnostic").get_by_role("button", name="Fix it").first
    await expect(offered).to_be_visible()
    button = await offered.element_handle()
    assert button is not None
    held = await hold(page, "**/api/validate")

    await text.evaluate("one => one.focus()")
    await page.keyboard.press("Control+Home")
    await page.keyboard.type("          ")

    await expect(fix).to_be_disabled()
    await expect(text).to_contain_text("nodeCuont")
    # The tooltip closes as the text changes; a click that was on its way comes to its button all the same.
    await button.dispatch_event("mousedown")
    await button.dispatch_event("click")
    await expect(text.locator(".cm-line").first).to_have_text('          {"properties": {"nodeCuont": 2}}')
    await page.unroute_all()
    for route in held:
        with suppress(Error):  # one that came in this moment goes on by itself
            await route.continue_()
    await expect(fix).to_be_enabled(timeout=PATIENCE)
    await fix.click()
    await expect(text).to_contain_text('{"properties": {"nodeCount": 2}}')
