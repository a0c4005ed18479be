"""What a browser loads: little, all of it from the deployment, and kept as long as it may be."""

from __future__ import annotations

import gzip

import pytest
from playwright.async_api import Page

from functions.page import FOLDER
from tests.acceptance.door import Door

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: Bytes, compressed.
MOST = 200_000


async def test_the_whole_page_is_at_most_200_kilobytes() -> None:
    files = [file for file in FOLDER.rglob("*") if file.is_file() and not file.name.startswith(".")]

    assert len(files) >= 3
    assert sum(len(gzip.compress(file.read_bytes())) for file in files) <= MOST


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
