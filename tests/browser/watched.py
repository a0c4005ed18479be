"""A page of a new reader, whose errors no test overlooks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, Page

#: The browser reports refusals and outages as errors; what the page makes of them is for the tests.
_EXPECTED = (
    "the server responded with a status of",
    "net::ERR_FAILED",
    "net::ERR_CONNECTION_RESET",
    "net::ERR_CONTENT_LENGTH_MISMATCH",
)


@asynccontextmanager
async def watched_page(browser: Browser) -> AsyncIterator[Page]:
    """A page, and at its end the check that there was no script error, refused resource or dialog in it."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    opened = await context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
    yield opened
    errors = list(complaints)
    # What a test still holds would go on to the deployment once its route is gone, and change it for others.
    await context.set_offline(True)
    await opened.unroute_all(behavior="ignoreErrors")
    await context.close()
    assert [text for text in errors if not any(one in text for one in _EXPECTED)] == []
