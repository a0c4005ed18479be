"""Nothing moves for a reader who asks for less motion."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.every_view.views import VIEWS, open_view
from tests.browser.reader import Reader

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: What would move if a style sheet or a script, now or later, animated it.
_MOVES = """() => {
    const moving = document.getAnimations().map(one => String(one.effect?.target?.className));
    const styles = [...document.querySelectorAll('*')].flatMap(one => {
        const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(one);
        const still = /^(0s(, )?)+$/.test(transitionDuration) && animationName === 'none';
        return still && scrollBehavior === 'auto' ? [] : [one.outerHTML.slice(0, 80)];
    });
    return [...moving, ...styles];
}"""


@pytest.mark.parametrize("view", VIEWS)
async def test_nothing_moves_where_less_motion_is_asked_for(reader: Reader, ended: str, view: str) -> None:
    page = reader.page
    await page.emulate_media(reduced_motion="reduce")
    await open_view(reader, view, ended)

    assert await page.evaluate(_MOVES) == []


async def test_what_is_animated_stands_still_where_less_motion_is_asked_for(reader: Reader) -> None:
    """The rule holds for what is added, too: an element that moves is put into the page."""
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
    assert await page.evaluate(_MOVES) != []

    await page.emulate_media(reduced_motion="reduce")

    assert await page.evaluate(_MOVES) == []
