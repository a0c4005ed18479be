"""The rule that nothing moves for a reader who asks for less motion holds for what is added, too."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.every_view.motion import MOVES
from tests.browser.reader import Reader

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_what_is_animated_stands_still_where_less_motion_is_asked_for(reader: Reader) -> None:
    page = reader.page
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await page.evaluate(
        """() => {
            const sheet = new CSSStyleSheet();
            const turn = '@keyframes turn { to { rotate: 1turn } }';
            sheet.replaceSync(turn + 'h1 { animation: turn 1s infinite; transition: color 1s }');
            document.adoptedStyleSheets = [sheet];
        }"""
    )
    assert await page.evaluate(MOVES) != []

    await page.emulate_media(reduced_motion="reduce")

    assert await page.evaluate(MOVES) == []
