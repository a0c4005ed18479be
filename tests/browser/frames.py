"""`python -m tests.browser.frames`: how long frames take while a long list and a long log are scrolled."""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playwright.async_api import CDPSession, Page, expect

from local.stack import Options, stack
from tests.acceptance.conftest import provisioned
from tests.browser.chromium import chromium
from tests.browser.output.log_file import answer_log
from tests.browser.reader import answer_jobs, listed

COUNTS = {"rows of jobs": 10_000, "lines of a log": 100_000}
_STEPS, _PAGE, _PATIENCE = 300, 200, 120_000
#: Lets frames pass at the top, so that what opening the view has left to do is not counted.
_WARM = """async selector => {
    document.querySelector(selector).scrollTop = 0;
    for (let warm = 0; warm < 20; warm += 1) await new Promise(requestAnimationFrame);
}"""
#: Scrolls from the top to the end, a step in each frame: milliseconds between frames, and of long tasks.
_SCROLL = """async ([selector, steps]) => {
    const box = document.querySelector(selector);
    const gaps = [], tasks = [];
    const note = list => tasks.push(...list.getEntries().map(one => one.duration));
    const observer = new PerformanceObserver(note);
    observer.observe({entryTypes: ['longtask']});
    const frame = () => new Promise(requestAnimationFrame);
    let before = await frame();
    for (let step = 1; step <= steps; step += 1) {
        box.scrollTop = (box.scrollHeight - box.clientHeight) * step / steps;
        const now = await frame();
        gaps.push(now - before);
        before = now;
    }
    observer.disconnect();
    return [gaps, tasks];
}"""


async def _rows(page: Page) -> str:
    count = COUNTS["rows of jobs"]

    def jobs(query: Mapping[str, str]) -> dict[str, Any]:
        start = int(query.get("after", "0"))
        stop = min(count, start + _PAGE)
        after = None if stop == count else str(stop)
        return {"jobs": [listed(number) for number in range(start, stop)], "next": after}

    await answer_jobs(page, jobs)
    await page.goto("#/jobs")
    table = page.get_by_role("table", name="Jobs")
    await expect(table).to_be_visible()
    while (rows := int(await table.get_attribute("aria-rowcount") or 0)) <= count + 1:
        await page.evaluate("document.querySelector('.rows').scrollTop = 1e9")
        await expect(table).not_to_have_attribute("aria-rowcount", str(rows))
    return ".rows"


async def _lines(page: Page) -> str:
    count = COUNTS["lines of a log"]
    await answer_log(page, "".join(f"line {number}: loss 0.{number}\n" for number in range(count)))
    await page.goto("#/jobs/job-000001/log")
    await expect(page.get_by_role("log")).to_contain_text(f"line {count - 1}:")
    await page.get_by_label("Follow").uncheck()
    return "[role=log]"


async def _main() -> None:
    with tempfile.TemporaryDirectory(prefix="frames-") as home:
        options = Options(data=Path(home) / "data", in_memory=True)
        expect.set_options(timeout=_PATIENCE)
        async with stack(options, provisioned) as running, chromium(home) as browser:
            for name, prepare in zip(COUNTS, (_rows, _lines), strict=True):
                page = await browser.new_page(base_url=f"{running.host_url}/api/ui/")
                await page.goto("")
                box = await prepare(page)
                await page.evaluate(_WARM, box)
                session = await page.context.new_cdp_session(page)
                before = await _processor_seconds(session)
                gaps, tasks = await page.evaluate(_SCROLL, [box, _STEPS])
                drawn = len(gaps) + 1  # the first has none before it
                spent = 1000 * (await _processor_seconds(session) - before) / drawn
                work = f"mean processor time of the page's thread for a frame: {spent:.1f} ms"
                sys.stdout.write(f"{_figures(name, gaps, tasks)}; {work}\n")
                await page.close()


async def _processor_seconds(session: CDPSession) -> float:
    """What the page's thread has worked since the first call: it does not grow while others have the core."""
    await session.send("Performance.enable", {"timeDomain": "threadTicks"})
    metrics = (await session.send("Performance.getMetrics"))["metrics"]
    return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


def _figures(name: str, gaps: list[float], tasks: list[float]) -> str:
    twentieths = statistics.quantiles(gaps, n=20)
    longest = f", the longest {max(tasks):.0f} ms" if tasks else ""
    return (
        f"{COUNTS[name]:,} {name}, {len(gaps)} frames: median {statistics.median(gaps):.1f} ms, "
        f"95 % within {twentieths[-1]:.1f} ms, longest {max(gaps):.0f} ms; "
        f"{len(tasks)} tasks over 50 ms{longest}"
    )


if __name__ == "__main__":
    asyncio.run(_main())
