"""`make screenshots`: the pictures of the page in the README, of jobs that run on the local stack."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from playwright.async_api import APIRequestContext, Page, expect

from local.clusters.registry import USUAL
from local.stack import Options
from slipway.settings import ROOT
from slipway.stack.demo_jobs import EXAMPLES
from slipway.stack.provision import Plan
from slipway.stack.running import run_until_stopped, running
from tests.acceptance.door import eventually
from tests.browser.chromium import chromium
from tests.browser.pictured_jobs import ENDING, FAILED, GOING, SWEEP, TEAMS, TRIALS

IMAGES = ROOT / "docs" / "images"
_NODES = 6
_PATIENCE = 120_000
_WIDTH, _HEIGHT = 1280, 860
#: Views that are higher.
_HEIGHTS = {"job": 1260, "overview": 1010}
#: The ids of the failed job and of the sweep.
Ids = Mapping[str, str]
View = Callable[[Page, Ids], Awaitable[None]]


async def _overview(page: Page, _: Ids) -> None:
    await page.goto("#/")
    await expect(page.get_by_text("5 running")).to_be_visible()


async def _job(page: Page, ids: Ids) -> None:
    await page.goto(f"#/jobs/{ids[FAILED]}")
    await expect(page.get_by_role("log")).to_contain_text("FileNotFoundError")
    await expect(page.locator("canvas").nth(1)).to_be_visible()


async def _sweep(page: Page, ids: Ids) -> None:
    await page.goto(f"#/jobs?sweep={ids[SWEEP]}")
    await expect(page.locator("canvas").first).to_be_visible()


async def _clusters(page: Page, _: Ids) -> None:
    await page.goto("#/clusters")
    await expect(page.get_by_role("link", name="vit-pretrain-2-nodes").first).to_be_visible()


async def _editor(page: Page, _: Ids) -> None:
    await page.goto("#/new")
    await page.get_by_label("job.json").fill((EXAMPLES / "mistakes" / "job.json").read_text())
    mark = page.locator(".cm-lintRange-error").first
    await expect(mark).to_be_visible()
    await mark.hover()
    await expect(page.locator(".cm-diagnostic").first).to_be_visible()


VIEWS: dict[str, View] = {
    "overview": _overview,
    "job": _job,
    "sweep": _sweep,
    "clusters": _clusters,
    "editor": _editor,
}


async def _shoot(page: Page, ids: Ids) -> None:
    for name, view in VIEWS.items():
        await page.set_viewport_size({"width": _WIDTH, "height": _HEIGHTS.get(name, _HEIGHT)})
        await page.emulate_media(color_scheme="light", reduced_motion="reduce")
        await view(page, ids)
        await page.locator("h1").evaluate("heading => heading.blur()")
        await page.wait_for_timeout(1_000)  # fonts and plots are drawn
        await page.screenshot(path=IMAGES / f"{name}.png")


async def _post(api: APIRequestContext, path: str, document: Mapping[str, Any]) -> dict[str, Any]:
    answer = await api.post(f"../{path}", data=document)
    assert answer.ok, await answer.text()
    return dict(await answer.json())


async def _until(api: APIRequestContext, path: str, holds: Callable[[dict[str, Any]], bool]) -> None:
    async def check() -> bool | None:
        return holds(await (await api.get(f"../{path}")).json()) or None

    await eventually(check, path)


def _runs(answer: dict[str, Any]) -> bool:
    """Whether the nodes of the running jobs are counted, which is once a minute."""
    return bool((answer["clusters"][0]["nodes"] or {}).get("running", 0) >= 5)


async def _work(api: APIRequestContext) -> Ids:
    """The work of a day, until its last jobs run and wait."""
    assert (await api.put("../teams", data=TEAMS)).ok
    ids = {name: (await _post(api, "jobs", {"name": name, **one}))["id"] for name, one in ENDING.items()}
    ids[SWEEP] = (await _post(api, "sweeps", TRIALS))["sweepId"]
    await _until(api, "jobs?state=active", lambda page: page["jobs"] == [])
    for name, one in GOING.items():
        await _post(api, "jobs", {"name": name, **one})
        await _until(api, "jobs?state=accepted,submitting", lambda page: len(page["jobs"]) <= 1)
    await _until(api, "overview", _runs)
    return ids


async def _main() -> int:
    IMAGES.mkdir(exist_ok=True)
    expect.set_options(timeout=_PATIENCE)
    with tempfile.TemporaryDirectory(prefix="screenshots-") as folder:
        options = Options(
            data=Path(folder) / "data",
            in_memory=True,
            overrides={"SLIPWAY_SWEEPER_SCHEDULE": "* * * * * *"},
            cluster=USUAL,
            nodes=_NODES,
            cluster_arguments=("--provisioning-seconds=0", "--idle-seconds=600", "--leaving-seconds=0.5"),
        )
        plan = Plan(maximum=_NODES)
        async with running(options, plan, lambda _: None) as stack, chromium(folder) as browser:
            context = await browser.new_context(base_url=f"{stack.host_url}/api/ui/")
            ids = await _work(context.request)
            await _shoot(await context.new_page(), ids)
    return 0


if __name__ == "__main__":
    sys.exit(run_until_stopped(_main(), interrupted=130))
