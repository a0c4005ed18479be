"""`make screenshots`: five views of the page, with the jobs of the demo, for the README."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Page, ViewportSize, expect

from local.clusters.registry import USUAL
from slipway.client.jobs.watch import Watch
from slipway.client.service import service
from slipway.settings import ROOT
from slipway.stack.demo import PLAN, options_of, work
from slipway.stack.demo_jobs import EXAMPLES
from slipway.stack.running import run_until_stopped, running, while_it_runs
from slipway.terminal.screen import screen
from tests.browser.chromium import chromium

IMAGES = ROOT / "docs" / "images"
_PATIENCE = 60_000
_SIZE: ViewportSize = {"width": 1120, "height": 640}
View = Callable[[Page, str], Awaitable[None]]


async def _jobs(page: Page, _: str) -> None:
    await expect(page.get_by_role("row")).to_have_count(5)


async def _log(page: Page, job: str) -> None:
    await page.goto(f"#/jobs/{job}/log")
    await expect(page.get_by_role("log")).to_contain_text("test accuracy")


async def _metrics(page: Page, job: str) -> None:
    await page.goto(f"#/jobs/{job}/metrics")
    await expect(page.locator("canvas").first).to_be_visible()


async def _clusters(page: Page, _: str) -> None:
    """A job has both nodes, and another one waits for them."""
    document = json.loads((EXAMPLES / "request.json").read_text())
    document["spec"]["properties"] |= {"nodeCount": 2, "customToolkitSettings": {"commandLine": "sleep 600"}}
    for name, priority in (("digits-two-nodes", "normal"), ("digits-next", "high")):
        document["spec"]["properties"]["schedulingPriority"] = priority
        answer = await page.request.post("../jobs", data={**document, "name": name})
        assert answer.ok, await answer.text()
        await page.goto("#/clusters")
        await expect(page.get_by_role("link", name=name)).to_be_visible()
        await expect(page.get_by_text("Queue: 1 running")).to_be_visible()
    await expect(page.get_by_text("Queue: 1 running, 1 waiting")).to_be_visible()
    # The nodes are counted once a minute.
    await expect(page.get_by_text("running (at most 2)")).to_be_visible(timeout=2 * _PATIENCE)
    await expect(page.get_by_role("figure").locator("canvas").first).to_be_visible()


async def _editor(page: Page, _: str) -> None:
    await page.goto("#/new")
    await page.get_by_label("job.json").fill((EXAMPLES / "mistakes" / "job.json").read_text())
    mark = page.locator(".cm-lintRange-error").first
    await expect(mark).to_be_visible()
    await mark.hover()
    await expect(page.locator(".cm-diagnostic").first).to_be_visible()


VIEWS: dict[str, View] = {
    "jobs": _jobs,
    "log": _log,
    "metrics": _metrics,
    "editor": _editor,
    "clusters": _clusters,
}


async def _shoot(url: str, job: str, home: str) -> None:
    """Save every view; `home` is the folder in which the browser keeps its own files."""
    expect.set_options(timeout=_PATIENCE)
    async with chromium(home) as browser:
        context = await browser.new_context(
            viewport=_SIZE, color_scheme="light", base_url=f"{url}/api/ui/", reduced_motion="reduce"
        )
        page = await context.new_page()
        await page.goto("")
        for name, view in VIEWS.items():
            await view(page, job)
            await page.locator("h1").evaluate("heading => heading.blur()")
            await page.wait_for_timeout(500)  # fonts and plots are drawn
            await page.screenshot(path=IMAGES / f"{name}.png")


async def _main() -> int:
    IMAGES.mkdir(exist_ok=True)
    out = screen(time.monotonic)
    with tempfile.TemporaryDirectory(prefix="screenshots-") as folder:
        options = options_of(Path(folder) / "data", USUAL)
        async with running(options, PLAN, lambda _: None) as stack, service(stack.host_url) as api:
            await while_it_runs(stack, work(out, stack, api, Watch(api, out.say)))
            jobs = (await api.jobs({"source": "drop,inventory", "state": "succeeded"}, 1)).jobs
            await _shoot(stack.host_url, jobs[0]["id"], folder)
    return 0


if __name__ == "__main__":
    sys.exit(run_until_stopped(_main(), interrupted=130))
