"""Who works by the keyboard alone, when the control that they used goes away."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.one_job.live import answer_live
from tests.browser.reader import Reader, listed

pytestmark = pytest.mark.asyncio(loop_scope="session")
PATH = "jobs/job-000001"
_PLACE = "document.activeElement.closest('main') !== null"


async def press(page: Page, name: str) -> None:
    """Choose a button by the keyboard."""
    button = page.get_by_role("button", name=name, exact=True)
    await button.focus()
    await page.keyboard.press("Enter")


async def test_a_question_takes_the_focus_and_gives_it_back(reader: Reader) -> None:
    page, job = reader.page, {**listed(1, state="running"), "history": []}
    del job["endedAt"]
    await answer_live(page, job)
    await page.route(f"**/api/{PATH}/cancel", lambda route: route.fulfill(status=202, json=job))
    await reader.open(PATH)

    await press(page, "Cancel")
    await expect(page.get_by_role("button", name="No")).to_be_focused()  # what a key held too long chooses
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Cancel")).to_be_focused()

    await page.keyboard.press("Enter")
    await page.keyboard.press("Shift+Tab")
    await expect(page.get_by_role("button", name="Yes, cancel the job")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Cancel")).to_be_focused()


async def test_the_focus_stays_in_a_list_whose_last_entry_goes_away(reader: Reader) -> None:
    page, driven = reader.page, list[str]()
    dead = [
        {"id": f"d{number}", "kind": "message", "since": "2026-11-20T10:00:00Z", "reason": "x"}
        for number in (1, 2)
    ]

    async def drive(route: Route) -> None:
        driven.append(route.request.url.split("/")[-2])
        await route.fulfill(status=202, json={})

    def remaining() -> list[dict[str, str]]:
        return [one for one in dead if one["id"] not in driven]

    await page.route("**/api/dead", lambda route: route.fulfill(json={"dead": remaining()}))
    await page.route("**/api/dead/*/redrive", drive)
    await reader.open("operate")

    await press(page, "Redrive d1")
    await expect(page.get_by_role("button", name="Redrive d2")).to_be_focused()
    await page.keyboard.press("Enter")

    await expect(page.get_by_role("button", name="Redrive d2")).to_have_count(0)
    await expect(page.get_by_role("heading", name="Dead letters")).to_be_focused()


async def test_after_another_try_the_focus_is_still_in_the_view(reader: Reader) -> None:
    page = reader.page
    await page.route("**/api/audit", lambda route: route.fulfill(status=503, json={"detail": "not now"}))
    await reader.open("operate")
    await press(page, "Compare drops, ledger, clusters and deliveries")
    await page.unroute_all()

    await press(page, "Try again")

    await expect(page.get_by_text("differences.")).to_be_visible()
    assert await page.evaluate(_PLACE)
