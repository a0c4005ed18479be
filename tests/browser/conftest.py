"""One local stack, and a browser in which a page that reports an error fails its test."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from functions.page import FOLDER
from local.stack import Options, stack
from tests.acceptance.conftest import provisioned
from tests.acceptance.door import Door, shell, unique
from tests.browser.chromium import chromium
from tests.browser.reader import Reader
from tests.browser.watched import watched_page

KEY = secrets.token_urlsafe(24)
#: Milliseconds, enough for a busy machine.
expect.set_options(timeout=20_000)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def door(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    """The stack, which requires a key."""
    assert (FOLDER / "index.html").is_file(), "the page is not built: run `make install`"
    options = Options(
        data=tmp_path_factory.mktemp("stack"),
        in_memory=True,
        overrides={
            "SLIPWAY_SWEEPER_SCHEDULE": "*/1 * * * * *",
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
    async with chromium(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A page of a new reader."""
    async with watched_page(browser) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def reader(page: Page, door: Door) -> Reader:
    """A reader who has opened the page and signed in."""
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
