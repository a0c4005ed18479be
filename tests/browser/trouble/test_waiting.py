"""A deployment that hangs after a click: the page says so, waits for a bounded time, and can try again."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.acceptance.door import Door
from tests.browser.one_job.live import live
from tests.browser.reader import Reader, answer_tagged, hold, listed

pytestmark = pytest.mark.asyncio(loop_scope="session")
RUNNING, ENDED = "jobs/job-000001", "jobs/job-000002"
_EVENT = {"id": "e-1", "type": "io.slipway.job.succeeded.v1", "state": "dead", "targets": []}
_DEAD = {"id": "d-1", "kind": "event", "since": "2026-11-20T10:00:00Z", "reason": "six tries"}
_RECEIVER = {"url": "https://hooks.example.org/x", "state": "dead", "last": "503", "pending": 0, "dead": 1}
#: A view, the buttons to click, of which the last one asks, and the call that hangs.
DEEDS = {
    "cancel": (RUNNING, ("Cancel", "Yes, cancel the job"), "job-000001/cancel"),
    "run again": (ENDED, ("Run again",), "job-000002/rerun"),
    "cancel a sweep": ("jobs?sweep=s_1", ("Cancel the sweep", "Yes, cancel its jobs"), "s_1/cancel"),
    "send again": (f"{ENDED}/deliveries", ("Send again",), "e-1/redeliver"),
    "download": (f"{ENDED}/files", ("Download model.txt",), "files/stdouterr/model.txt"),
    "first": ("jobs", ("Run the example",), "/api/jobs$"),
    "explain": ("new", ("Explain",), "/api/explain"),
    "submit": ("new", ("Submit",), r"/api/jobs\?name=first"),
    "pause": ("operate", ("Pause submissions",), "/api/pause$"),
    "redrive": ("operate", ("Redrive d-1",), "d-1/redrive"),
    "redeliver": ("operate", ("Send 1 again to https://hooks.example.org/x",), "e-1/redeliver"),
    "audit": ("operate", ("Compare drops, ledger, clusters and deliveries",), "/api/audit"),
}
#: Parts of a view that are read once, when it is opened: the call that hangs, and what comes in the end.
PARTS = {
    "files": (f"{ENDED}/files", r"job-000002/files\?", "model.txt"),
    "document": (f"{ENDED}/document", "job-000002/receipt", "nodeCount"),
    "an earlier document": ("new?from=job-000002", "job-000002/receipt", "nodeCount"),
}


async def answer_views(page: Page) -> None:
    """Answer for a job that runs, one that has ended, a sweep, and an operator's lists."""
    sweep = {"sweep": {"id": "s_1", "index": 0, "values": {}}}
    running = {**listed(1, state="running", **sweep), "history": []}
    del running["endedAt"]
    counts = {"total": 9, "parallel": 1, "atWork": 1, "waiting": 7, "counts": {}}
    files = [{"name": "model.txt", "bytes": 9, "modified": None}]
    for end, body in {
        RUNNING: running,
        f"{RUNNING}/live?*": live(running),
        f"{RUNNING}/events": {"events": []},
        f"{ENDED}/live?*": live({**listed(2), "history": []}),
        ENDED: {**listed(2), "history": []},
        f"{ENDED}/receipt": {"accepted": {"nodeCount": 1}},
        f"{ENDED}/events": {"events": [_EVENT]},
        f"{ENDED}/outputs": {"outputs": []},
        f"{ENDED}/files?*": {"files": files},
        "sweeps/s_1": {"name": "tune", "state": "active", **counts},
        "jobs?limit=200": {"jobs": [], "next": None},
        "jobs?*sweep=s_1*": {"jobs": [running], "next": None},
        "dead": {"dead": [_DEAD]},
        "receivers": {"receivers": [_RECEIVER | {"deadEvents": ["e-1"]}]},
    }.items():
        await answer_tagged(page, f"**/api/{end}", body)


@pytest_asyncio.fixture(scope="module", loop_scope="session", autouse=True)
async def unchanged(door: Door) -> AsyncIterator[None]:
    """No call that a test holds comes to the deployment after it: other modules share that."""

    async def state() -> tuple[bool, list[str]]:
        jobs = (await door.call("GET", "jobs"))[1]["jobs"]
        return (await door.call("GET", "health"))[1]["paused"], [job["id"] for job in jobs]

    before = await state()
    yield
    assert await state() == before


@pytest.mark.parametrize("deed", DEEDS)
async def test_a_click_that_is_not_answered_says_until_when_it_waits_and_can_be_tried_again(
    reader: Reader, deed: str
) -> None:
    page, (view, clicks, called) = reader.page, DEEDS[deed]
    await page.clock.install()
    await answer_views(page)
    await reader.open(view)
    for name in clicks[:-1]:
        await page.get_by_role("button", name=name, exact=True).click()
    button = page.get_by_role("button", name=clicks[-1], exact=True)
    await expect(button).to_be_enabled()
    held = await hold(page, re.compile(called))
    await button.click()
    main = page.get_by_role("main")
    await expect(main.get_by_role("status").filter(has_text="…")).to_have_count(1)
    await page.clock.run_for(6_000)
    await expect(main.get_by_role("status").filter(has_text="There has been no answer since")).to_be_visible()
    assert len(held) == 1

    await page.clock.run_for(60_000)

    again = page.get_by_role("button", name="Try again")
    alert = main.get_by_role("alert").filter(has=again)
    await expect(alert).to_contain_text("The deployment has not answered for")
    assert "by itself" not in await alert.inner_text()
    await expect(main.get_by_role("status").filter(has_text="There has been no answer since")).to_have_count(
        0
    )
    await again.click()
    await expect(alert).to_have_count(0)
    await expect(main.get_by_role("status").filter(has_text="…")).to_have_count(1)
    async with asyncio.timeout(60):
        while len(held) < 2:
            await page.clock.run_for(100)
            await asyncio.sleep(0.05)
    first, second = (one.request for one in held)
    assert [second.url, second.post_data] == [first.url, first.post_data]
    assert second.headers.get("idempotency-key") == first.headers.get("idempotency-key")


async def test_two_clicks_on_a_slow_deployment_ask_once_and_a_late_answer_is_taken(reader: Reader) -> None:
    page = reader.page
    await page.clock.install()
    await answer_views(page)
    await reader.open("new")
    held = await hold(page, re.compile("/api/jobs.name=first"))
    await page.get_by_role("button", name="Submit").dblclick()
    await page.get_by_role("button", name="Submit").dispatch_event("click")
    await page.clock.run_for(20_000)
    (call,) = held

    await call.fulfill(status=202, json=listed(2))

    await expect(page.get_by_role("heading", level=1)).to_contain_text("train-000002")


@pytest.mark.parametrize("part", PARTS)
async def test_a_part_of_a_view_that_does_not_come_says_so_and_can_be_asked_for_again_at_once(
    reader: Reader, part: str
) -> None:
    page, (view, called, shown) = reader.page, PARTS[part]
    await page.clock.install()
    await answer_views(page)
    held = await hold(page, re.compile(called))
    async with page.expect_request(re.compile(called)):  # a chunk of the page loads before
        await reader.open(view)
    main = page.get_by_role("main")
    waiting = main.get_by_role("status").filter(has_text="Loading…").first
    await expect(waiting).to_be_visible()
    await page.clock.run_for(11_000)
    alert = main.get_by_role("alert")
    await expect(alert).to_contain_text("No complete answer has come since")
    await expect(alert.get_by_role("button")).to_have_count(0)
    await page.clock.run_for(50_000)
    await expect(alert).to_contain_text("has not answered for 60 s. The page tries again by itself.")
    await page.unroute_all()
    await answer_views(page)

    await alert.get_by_role("button", name="Try again").click()

    await expect(main.get_by_text(shown).first).to_be_visible()
    await expect(alert).to_have_count(0)
    await expect(main.get_by_role("status").filter(has_text="…")).to_have_count(0)
    assert len(held) == 1
