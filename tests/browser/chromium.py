"""Debian's Chromium, for the tests of the page and for what measures and pictures it."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from local.setup.browser import BROWSERS


def program() -> str:
    """The path of the first of the builds that is installed. Raises FileNotFoundError."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise FileNotFoundError(f"none of {', '.join(BROWSERS)} is installed: run `make install-browser`")
    return path


@asynccontextmanager
async def chromium(home: str | Path) -> AsyncIterator[Browser]:
    """A browser, which keeps its own files in the folder `home`."""
    own = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), str(home))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program(), args=["--no-sandbox"], env={**os.environ, **own}
        )
        yield browser
        await browser.close()
