"""What a browser loads: little, all of it from the deployment, and kept as long as it may be."""

from __future__ import annotations

import gzip

import pytest
from playwright.async_api import Page, expect

from functions.page import FOLDER
from tests.acceptance.door import Door
from tests.browser.conftest import KEY
from tests.browser.reader import Reader

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: Bytes, compressed.
MOST = 380_000
#: The same, of what a first visit needs, with its fonts.
FIRST = 120_000


async def test_the_whole_page_with_its_fonts_and_the_editor_is_small() -> None:
    files = [file for file in FOLDER.rglob("*") if file.is_file() and not file.name.startswith(".")]

    assert len(files) >= 3
    assert sum(len(gzip.compress(file.read_bytes())) for file in files) <= MOST


async def test_a_first_visit_loads_less_than_120_kilobytes(page: Page, door: Door) -> None:
    await page.goto(f"{door.stack.host_url}/api/ui/")
    await page.get_by_label("Function key").fill(KEY)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name="Needs attention")).to_be_visible()
    await page.wait_for_load_state("networkidle")

    sizes: dict[str, int] = await page.evaluate(
        """Object.fromEntries(['navigation', 'resource'].flatMap(kind => performance.getEntriesByType(kind))
            .filter(entry => entry.name.includes('/api/ui/'))
            .map(entry => [entry.name.split('/').at(-1), entry.encodedBodySize]))"""
    )

    assert {name.partition("-")[0] for name in sizes} >= {"overview", "inter", "jetbrains"}
    assert sum(sizes.values()) < FIRST, sizes


async def test_the_editor_comes_with_the_first_view_that_has_one(reader: Reader) -> None:
    loaded: list[str] = []
    reader.page.on("response", lambda answer: loaded.append(answer.url))
    await reader.page.reload()
    await expect(reader.page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()
    assert loaded
    assert [url for url in loaded if "codemirror" in url] == []

    await reader.open("new")

    await expect(reader.page.get_by_label("job.json")).to_be_visible()
    assert [url for url in loaded if "codemirror" in url]


async def test_where_the_editor_cannot_be_loaded_a_plain_field_takes_its_place(reader: Reader) -> None:
    await reader.page.route("**/codemirror-*", lambda route: route.abort("failed"))

    await reader.open("new")

    await reader.page.get_by_label("job.json").fill("{")
    await expect(reader.page.get_by_text("This document cannot run.")).to_be_visible()


async def test_nothing_comes_from_elsewhere_and_a_second_visit_loads_the_document_alone(
    page: Page, door: Door
) -> None:
    loaded: list[str] = []
    page.on("response", lambda answer: loaded.append(answer.url))
    first = await page.goto(f"{door.stack.host_url}/api/ui/")
    await page.wait_for_load_state("networkidle")

    assert first is not None
    assert "frame-ancestors 'none'" in first.headers["content-security-policy"]
    assert loaded
    assert [url for url in loaded if not url.startswith(f"{door.stack.host_url}/api/")] == []
    await page.reload()
    await page.wait_for_load_state("networkidle")
    sizes = await page.evaluate(
        "performance.getEntriesByType('resource')"
        ".filter(entry => entry.name.includes('/assets/')).map(entry => entry.transferSize)"
    )
    assert sizes
    assert set(sizes) == {0}
