"""The local stack once, and a browser whose every page fails its test when it reports an error."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from functions.page import FOLDER
from local.stack import Options, stack
from tests.acceptance.conftest import provisioned
from tests.acceptance.door import Door, shell, unique
from tests.browser.reader import Reader

KEY = secrets.token_urlsafe(24)
#: Milliseconds: a loaded machine takes its time.
expect.set_options(timeout=20_000)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def door(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    """The stack, which asks for a key."""
    assert (FOLDER / "index.html").is_file(), "the page is not built: run `make install`"
    options = Options(
        data=tmp_path_factory.mktemp("stack"),
        in_memory=True,
        overrides={
            "SLIPWAY_SWEEP_SCHEDULE": "*/1 * * * * *",
            "SLIPWAY_WEBHOOK_SCHEDULE": "1s,1s",
            "LOCAL_HOST_FUNCTION_KEY": KEY,
            "LOCAL_HOST_MASTER_KEY": f"master-{KEY}",
        },
        cluster_arguments=(
            *("--provisioning-seconds=0", "--leaving-seconds=0", "--idle-seconds=60"),
            "--containers=host",
        ),
        host_arguments=("--enable-auth",),
    )
    async with stack(options, provisioned) as running, Door(running, KEY) as opened:
        yield opened


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    home = str(tmp_path_factory.mktemp("browser"))
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=["--no-sandbox"],
            env={**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home},
        )
        yield opened
        await opened.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A page of a new reader. Any script error, refused resource or dialog fails the test."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    opened = await context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
    yield opened
    await opened.unroute_all(behavior="ignoreErrors")  # a request may be under way in the route of a test
    await context.close()
    # The browser reports refusals and outages there, too; what the page makes of them is for the tests.
    expected = (
        "the server responded with a status of",
        "net::ERR_FAILED",
        "net::ERR_CONNECTION_RESET",
        "net::ERR_CONTENT_LENGTH_MISMATCH",
    )
    assert [text for text in complaints if not any(one in text for one in expected)] == []


@pytest_asyncio.fixture(loop_scope="session")
async def reader(page: Page, door: Door) -> Reader:
    """Someone who has opened the page and signed in."""
    reader = Reader(page, f"{door.stack.host_url}/api/ui/")
    await reader.sign_in(KEY)
    return reader


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def ended(door: Door) -> AsyncIterator[str]:
    """The id of a job that has ended, with a receiver."""
    name = unique("ended")
    document = {"name": name, "spec": shell("echo done"), "notify": [door.hook("views")]}
    _, job, _ = await door.call("POST", "jobs", document, Content_Type="application/json")
    await door.ended(name=name)
    yield str(job["id"])
