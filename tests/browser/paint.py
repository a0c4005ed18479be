"""`python -m tests.browser.paint`: how long a first visit waits for the list of jobs, and what it loads.

Each visit is that of a browser that has nothing of the page yet, to the local stack with jobs in its ledger.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, expect

from local.stack import Options, stack
from tests.acceptance.conftest import provisioned
from tests.acceptance.door import shell
from tests.browser.chromium import chromium

VISITS, JOBS = 15, 200
#: Milliseconds since the navigation began: until anything was painted, and until the first row was.
_TIMES = """() => new Promise(done => {
    const begin = performance.getEntriesByName('first-contentful-paint')[0].startTime;
    requestAnimationFrame(() => requestAnimationFrame(() => done([begin, window.rowAt])));
})"""
#: Notes when the first row is in the document; the frame after it paints it.
_NOTE = """new MutationObserver((_, observer) => {
    if (document.querySelector('.room .row') === null) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => { window.rowAt = performance.now(); }));
}).observe(document, {childList: true, subtree: true})"""
_BYTES = """['navigation', 'resource'].flatMap(kind => performance.getEntriesByType(kind))
    .filter(entry => entry.name.includes('/api/ui/'))
    .reduce((sum, entry) => sum + entry.encodedBodySize, 0)"""


async def _visit(browser: Browser, url: str) -> tuple[float, float, int]:
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    page = await context.new_page()
    await page.add_init_script(_NOTE)
    await page.goto(f"{url}/api/ui/#/jobs")
    await expect(page.get_by_role("row")).not_to_have_count(0)
    await page.wait_for_function("window.rowAt !== undefined")
    first, row = await page.evaluate(_TIMES)
    loaded = int(await page.evaluate(_BYTES))
    await context.close()
    return first, row, loaded


async def _main() -> None:
    with tempfile.TemporaryDirectory(prefix="paint-") as home:
        options = Options(data=Path(home) / "data", in_memory=True)
        async with stack(options, provisioned) as running, chromium(home) as browser:
            await _fill(browser, running.host_url)
            visits = [await _visit(browser, running.host_url) for _ in range(VISITS)]
    firsts, rows, sizes = zip(*visits, strict=True)
    for name, times in (("anything", firsts), ("the list", rows)):
        sys.stdout.write(
            f"{name} is painted after: median {statistics.median(times):.0f} ms, "
            f"longest {max(times):.0f} ms of {VISITS} first visits, with {JOBS} jobs\n"
        )
    sys.stdout.write(f"loaded before the editor: {max(sizes) / 1000:.1f} kB, compressed\n")


async def _fill(browser: Browser, url: str) -> None:
    document: dict[str, Any] = {"name": "listed", "spec": shell("true")}
    context = await browser.new_context()
    for _ in range(JOBS):
        answer = await context.request.post(f"{url}/api/jobs", data=document)
        assert answer.ok, await answer.text()
    await context.close()


if __name__ == "__main__":
    asyncio.run(_main())
