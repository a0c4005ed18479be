"""A sweep in a browser: explained, submitted as one, followed and cancelled."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.acceptance.door import Door, shell, unique
from tests.browser.reader import PATIENCE, Reader

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def write(page: Page, document: dict[str, Any]) -> None:
    await page.get_by_label("job.json").fill(json.dumps(document))
    await expect(page.get_by_text("This document can run.")).to_be_visible(timeout=PATIENCE)


async def test_a_sweep_is_explained_submitted_and_followed(reader: Reader, door: Door) -> None:
    page, name = reader.page, unique("tune")
    await reader.open("new")
    sweep = {"word": ["one", "two"], "seed": {"range": [0, 2]}}
    await write(page, {"name": name, "sweep": sweep, "parallel": 1, "spec": shell("echo {word} {seed}")})

    await page.get_by_role("button", name="Explain").click()
    await expect(page.get_by_text("A sweep of 4 jobs, at most 1 at once")).to_be_visible(timeout=PATIENCE)
    await page.get_by_role("button", name="Submit").click()

    await expect(page).to_have_url(re.compile(r"#/jobs\?sweep=s_[a-z2-7]+$"), timeout=PATIENCE)
    summary = page.get_by_role("region", name="Sweep")
    await expect(summary).to_contain_text(f"{name}, a sweep of 4 jobs, at most 1 at once")
    await expect(page.get_by_role("row")).to_have_count(5, timeout=PATIENCE)
    await expect(page.get_by_role("link", name=f"{name}-3")).to_be_visible()
    assert await reader.violations() == []
    for number in range(4):
        await door.ended(name=f"{name}-{number}")
    await expect(summary).to_contain_text("4 succeeded", timeout=PATIENCE)
    await expect(summary.get_by_role("button")).to_have_count(0)


async def test_all_jobs_of_a_sweep_are_cancelled_at_once(reader: Reader, door: Door) -> None:
    page, name = reader.page, unique("long")
    document = {"name": name, "sweep": {"n": [1, 2, 3]}, "parallel": 1, "spec": shell("sleep {n}00")}
    _, sweep, _ = await door.call("POST", "sweeps", document, Content_Type="application/json")
    await reader.open(f"jobs?sweep={sweep['sweepId']}")

    await page.get_by_role("button", name="Cancel the sweep").click()
    await page.get_by_role("button", name="Yes, cancel its jobs").click()

    summary = page.get_by_role("region", name="Sweep")
    await expect(summary).to_contain_text("3 cancelled", timeout=PATIENCE)


async def test_a_second_click_submits_no_second_job(reader: Reader) -> None:
    page, held = reader.page, list[Route]()

    async def hold(route: Route) -> None:
        held.append(route)

    await page.route(re.compile(r"/api/jobs\?name="), hold)
    await reader.open("new")
    await expect(page.get_by_text("This document can run.")).to_be_visible(timeout=PATIENCE)

    await page.get_by_role("button", name="Submit").dblclick(force=True)

    await expect(page.get_by_role("button", name="Submit")).to_be_disabled()
    assert len(held) == 1
    await held[0].fulfill(status=503, json={"detail": "busy", "remedy": "send it again"})
    await expect(page.get_by_role("alert")).to_contain_text("busy")
    await expect(page.get_by_role("button", name="Submit")).to_be_enabled()
