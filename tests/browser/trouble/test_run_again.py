"""A job is run again from the page while the deployment dies in the middle, and by the keyboard alone."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.async_api import Page, Route, expect

from tests.acceptance.door import Door, shell, unique
from tests.browser.one_job.live import answer_live
from tests.browser.reader import PATIENCE, Reader, listed

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def ended_job(door: Door, name: str) -> str:
    document = {"name": name, "spec": shell("echo again")}
    _, job, _ = await door.call("POST", "jobs", document, Content_Type="application/json")
    await door.ended(name=name)
    return str(job["id"])


@pytest.mark.parametrize("is_done", [True, False], ids=["after the job was made", "before"])
async def test_a_job_is_run_again_once_though_the_deployment_dies_in_the_middle(
    reader: Reader, door: Door, is_done: bool
) -> None:
    page, name = reader.page, unique("again")
    job = await ended_job(door, name)
    await reader.open(f"jobs/{job}")
    keys: list[str] = []

    async def die(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) > 2:
            await route.continue_()
            return
        if is_done:
            await route.fetch()
        await route.abort()

    await page.route("**/api/jobs/*/rerun", die)
    await page.get_by_role("button", name="Run again").click()
    for _ in range(2):
        await expect(page.get_by_role("alert")).to_contain_text("does not answer")
        await page.get_by_role("button", name="Try again").click()

    await expect(page).not_to_have_url(f"{reader.url}#/jobs/{job}")
    assert len(keys) == 3
    assert len(set(keys)) == 1
    _, answer, _ = await door.call("GET", f"jobs?name={name}")
    assert len(answer["jobs"]) == 2


async def test_a_job_of_another_team_runs_again_only_after_it_is_said_whose_code_it_is(
    reader: Reader,
) -> None:
    page, bodies = reader.page, list[str]()
    caller = {
        "id": "bob",
        "roles": ["Jobs.Submit", "Jobs.ReadAll"],
        "teams": [{"name": "speech", "manager": False}],
    }
    job = listed(1, team="vision", history=[])

    async def again(route: Route) -> None:
        bodies.append(route.request.method)
        await route.fulfill(status=202, json={**listed(2, team="speech"), "notes": []})

    await page.route("**/api/me", lambda route: route.fulfill(json=caller))
    await answer_live(page, job)
    await page.route("**/api/jobs/job-000001/receipt", lambda route: route.fulfill(json={"id": job["id"]}))
    await page.route("**/api/jobs/job-000001/rerun", again)
    await reader.open("jobs/job-000001")
    await page.reload()

    await page.get_by_role("button", name="Run again").click()
    await expect(page.get_by_text("its code are of the team vision, which you are not in")).to_be_visible()
    await page.get_by_role("button", name="No", exact=True).click()
    await page.get_by_role("button", name="Run again").click()
    assert bodies == []
    await page.get_by_role("button", name="Yes, run it again").click()

    await expect(page).to_have_url(f"{reader.url}#/jobs/job-000002")
    assert bodies == ["POST"]


async def reach(page: Page, role: Literal["button", "link", "textbox"], name: str, key: str = "Tab") -> None:
    """Press a key until the focus is at this control."""
    for _ in range(60):
        focused = page.locator(":focus").and_(page.get_by_role(role, name=name, exact=True))
        if await focused.count() == 1:
            return
        await page.keyboard.press(key)
    pytest.fail(f"{key} does not lead to the {role} {name}")


async def test_a_job_is_written_followed_read_and_run_again_by_the_keyboard_alone(reader: Reader) -> None:
    page, name = reader.page, unique("keys")
    await reach(page, "link", "New job")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("This document can run.")).to_be_visible()
    await reach(page, "textbox", "Name")
    await page.keyboard.press("Control+A")
    await page.keyboard.type(name)
    await reach(page, "button", "Submit", "Shift+Tab")
    await page.keyboard.press("Enter")

    await expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    await expect(page.get_by_role("heading", level=1)).to_contain_text("succeeded", timeout=PATIENCE)
    await reach(page, "link", "Log")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("log")).to_contain_text("Hello from")
    await reach(page, "link", "Files", "Shift+Tab")
    await page.keyboard.press("Enter")
    await reach(page, "button", "stdout.txt")
    await page.keyboard.press("Enter")
    await expect(page.locator(".preview")).to_contain_text("Hello from")
    first = page.url
    await reach(page, "button", "Run again", "Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(page).not_to_have_url(first)
    await expect(page.get_by_role("heading", level=1)).to_contain_text("succeeded", timeout=PATIENCE)
