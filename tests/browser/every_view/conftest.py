"""Opens each view once for all tests of a module."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.acceptance.door import Door
from tests.browser.conftest import KEY
from tests.browser.every_view.views import VIEWS, open_view
from tests.browser.reader import Reader
from tests.browser.watched import watched_page


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=VIEWS)
async def resting(
    request: pytest.FixtureRequest, browser: Browser, door: Door, ended: str
) -> AsyncIterator[Reader]:
    """A reader at one of the views, in which nothing changes; a test may advance the clock.

    Tests of one view run in sequence, and each leaves it as it was, except for the time.
    """
    async with watched_page(browser) as page:
        reader = Reader(page, f"{door.stack.host_url}/api/ui/")
        await reader.sign_in(KEY)
        await page.clock.install()
        await open_view(reader, str(request.param), ended)
        yield reader
