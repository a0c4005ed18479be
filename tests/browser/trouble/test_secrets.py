"""A secret of a real job, in every view of it and in every answer that the page gets."""

from __future__ import annotations

import secrets

import pytest
from playwright.async_api import Route, expect

from tests.acceptance.door import Door, shell, unique
from tests.browser.reader import PATIENCE, Reader

pytestmark = pytest.mark.asyncio(loop_scope="session")
VIEWS = (
    *("jobs", "jobs?view=compare", "clusters", "operate", "jobs/ID", "jobs/ID/log", "jobs/ID/metrics"),
    *("jobs/ID/files", "jobs/ID/document", "jobs/ID/deliveries", "new?from=ID"),
)


async def test_no_view_and_no_answer_has_the_value_of_a_secret(reader: Reader, door: Door) -> None:
    page, canary, answers = reader.page, secrets.token_hex(16), dict[str, str]()
    name = unique("secret")
    # The command fails, so that its last lines are text_of_page.
    properties = {
        "secrets": [{"name": "TOKEN", "value": canary}],
        "environmentVariables": [{"name": "RATE", "value": "0.1"}],
    }
    spec = shell('echo "it is $TOKEN" >&2; echo "$TOKEN"; exit 3', **properties)
    document = {"name": name, "spec": spec, "notify": [door.hook("secret")]}
    _, job, _ = await door.call("POST", "jobs", document, Content_Type="application/json")
    await door.ended(name=name)

    async def note(route: Route) -> None:
        answer = await route.fetch()
        answers[answer.url] = await answer.text()
        await route.fulfill(response=answer)

    await page.route(lambda url: "/api/" in url and "/api/ui/" not in url, note)
    for view in VIEWS:
        await reader.open(view.replace("ID", job["id"]))
        await page.reload()
        await expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=PATIENCE)
        await page.wait_for_load_state("networkidle")
        text_of_page = await page.content() + await page.evaluate("JSON.stringify({...sessionStorage})")
        log = page.get_by_role("log")
        if await log.count():  # what a job writes itself is its own
            text_of_page = text_of_page.replace(await log.inner_html(), "")
        assert canary not in text_of_page, view
        if view == "jobs/ID/document":
            region = page.get_by_role("region", name="Environment variables")
            await expect(region.get_by_role("row").filter(has_text="a secret of job.json")).to_contain_text(
                "***"
            )

    receipts = [text for url, text in answers.items() if url.endswith(f"{job['id']}/receipt")]
    assert receipts
    assert all('"accepted"' in text and "***" in text for text in receipts)
    leaks = {url: text for url, text in answers.items() if canary in text}
    assert {url for url in leaks if "/files/stdouterr/" not in url} == set()
