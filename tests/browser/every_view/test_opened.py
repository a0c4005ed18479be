"""What a view opens when it is asked to: by the keyboard alone, and accessible like the view itself."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.browser.reader import PATIENCE, Reader, answer_tagged
from tests.browser.trouble.everything import JOB, answer_everything

pytestmark = pytest.mark.asyncio(loop_scope="session")
_ANSWERS: dict[str, dict[str, Any]] = {
    "explain*": {
        "verdict": "runs",
        "summary": "It would run on gpu.",
        "notes": ["its nodes are idle"],
        "environment": [{"name": "RATE", "value": "0.1", "source": "job.json"}],
        "request": {"nodeCount": 2},
    },
    "audit": {
        "counted": {"jobs": 3, "drops": 2},
        "differences": [{"kind": "lost", "what": "job-000001", "message": "no cluster knows it"}],
        "unknown": ["the cluster gpu does not answer: it refuses the connection"],
    },
}
_FACTS = {"mounted": [], "maxNodes": 4, "gpus": 8, "nodeMemory": 921_600, "maxWallClock": None}
#: A view, the control that opens something in it, and a text of what it opens.
OPENED = {
    "the question before a job ends": (JOB, "Cancel", "Yes, cancel the job"),
    "the question before a sweep ends": (
        "jobs?sweep=s_1",
        "Cancel the sweep",
        "Yes, cancel its jobs",
    ),
    "a preview": (f"{JOB}/files", "model.txt", "line 1 of the file"),
    "an explanation": ("new", "Explain", "It would run on gpu."),
    "the audit": ("operate", "Compare drops, ledger, clusters and deliveries", "1 difference."),
    "the facts of a cluster": ("clusters", "What jobs can count on there", "900 GiB"),
}


async def answer_opened(page: Page) -> None:
    """Answer everything, and for what is opened in the views."""
    await answer_everything(page)
    cluster = {"name": "gpu", "engine": "slurm", "state": "steady", "nodes": 2, "facts": _FACTS}
    await page.route("**/api/clusters?*", lambda route: route.fulfill(json={"clusters": [cluster]}))
    saved = {"Content-Disposition": "attachment"}
    await page.route(
        "**/files/stdouterr/model.txt*",
        lambda route: route.fulfill(body="line 1 of the file", headers=saved),
    )
    for end, body in _ANSWERS.items():
        await answer_tagged(page, f"**/api/{end}", body)


@pytest.mark.parametrize("name", OPENED)
async def test_what_is_opened_is_reached_by_the_keyboard_and_accessible(reader: Reader, name: str) -> None:
    page, (view, control, text) = reader.page, OPENED[name]
    await answer_opened(page)
    await reader.open(view)
    button = page.get_by_role("button", name=control, exact=True)
    await button.or_(page.locator("summary", has_text=control)).focus()

    await page.keyboard.press("Enter")

    await expect(page.get_by_text(text).first).to_be_visible(timeout=PATIENCE)
    assert await page.evaluate("document.activeElement.closest('main') !== null")
    assert await page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert await reader.violations_everywhere() == []
