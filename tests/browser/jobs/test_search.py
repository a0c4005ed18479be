"""A search that has looked back only so far says so, and goes on only when it is asked to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.reader import Reader, answer_jobs, listed

pytestmark = pytest.mark.asyncio(loop_scope="session")
_RECENT, _EARLIER = "2025-12-24T10:00:00Z", "2025-11-24T10:00:00Z"
_PAGES: Mapping[str, dict[str, Any]] = {
    "": {"jobs": [], "next": "near", "searchedTo": _RECENT},
    "near": {
        "jobs": [{**listed(1), "createdAt": "2025-12-01T10:00:00Z"}],
        "next": "far",
        "searchedTo": _EARLIER,
    },
    "far": {"jobs": [], "next": None},
}


async def test_a_search_says_how_far_it_has_looked_and_goes_on_when_it_is_asked_to(reader: Reader) -> None:
    page = reader.page
    addresses = await answer_jobs(page, lambda query: _PAGES[query.get("after", "")])
    await page.goto(f"{reader.url}#/jobs?contains=train")
    await page.reload()
    looked = page.get_by_text("Looked back to")
    go_on = page.get_by_role("button", name="Go on")

    await expect(looked.get_by_role("time")).to_have_attribute("datetime", _RECENT)
    await expect(page.get_by_text("No job has matched so far.")).to_be_visible()
    await go_on.click()

    await expect(page.get_by_role("link", name="train-000001")).to_be_visible()
    await expect(looked.get_by_role("time")).to_have_attribute("datetime", _EARLIER)
    assert not any("after=far" in address for address in addresses)
    await go_on.click()

    await expect(looked).to_have_count(0)
    await expect(page.get_by_role("link", name="train-000001")).to_be_visible()
