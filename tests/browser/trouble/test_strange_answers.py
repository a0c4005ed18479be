"""A deployment that asks for patience, and JSON that is not of the API: of another version, or of a proxy."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.async_api import Route, expect

from tests.browser.one_job.live import answer_live
from tests.browser.reader import Reader, answer_jobs, answer_tagged, comes, listed
from tests.browser.trouble.everything import answering

pytestmark = pytest.mark.asyncio(loop_scope="session")
STRANGE: tuple[Any, ...] = (None, [], {}, "sign in", {"jobs": None}, {"jobs": [None], "next": None})
VIEWS = (
    *("jobs", "jobs?group=experiment", "jobs?view=compare", "jobs?sweep=s_1", "clusters", "operate"),
    *(f"jobs/j_1{part}" for part in ("", "/log", "/metrics", "/files", "/document", "/deliveries")),
    "new?from=j_1",
)


@pytest.mark.parametrize("body", STRANGE)
async def test_a_list_that_is_not_of_the_api_is_said_and_the_next_one_is_shown(
    reader: Reader, body: Any
) -> None:
    page = reader.page
    await page.clock.install()
    await answer_jobs(page, lambda _: {"jobs": [listed(1)], "next": None})
    await page.reload()
    await expect(page.get_by_text("train-000001")).to_be_visible()
    await page.route("**/api/jobs?*", lambda route: route.fulfill(body=json.dumps(body)))

    await comes(page.get_by_role("alert").filter(has_text="The page cannot read the answer"))

    await answer_jobs(page, lambda _: {"jobs": [listed(2)], "next": None})
    await comes(page.get_by_text("train-000002"))
    await expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("view", VIEWS)
async def test_no_answer_leaves_a_view_empty_or_keeps_the_reader_in_it(reader: Reader, view: str) -> None:
    page = reader.page
    data = ("jobs", "sweeps", "clusters", "receivers", "dead", "health", "teams")
    for body in ("null", "{}"):
        await page.route(lambda url: any(f"/api/{one}" in url for one in data), answering(body))

        await reader.open(view)
        await page.reload()

        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        if body == "null":
            await expect(page.get_by_role("alert").first).to_be_visible()
        await page.unroute_all()
        await answer_jobs(page, lambda _: {"jobs": [listed(3)], "next": None})
        await page.get_by_role("link", name="New job").click()
        views = page.get_by_role("navigation", name="Views")
        await views.get_by_role("link", name="Jobs", exact=True).click()
        await expect(page.get_by_text("train-000003")).to_be_visible()
        await expect(page.get_by_role("alert")).to_have_count(0)


async def test_a_poll_waits_as_long_as_the_deployment_asks_for(reader: Reader) -> None:
    page, calls = reader.page, list[str]()

    async def refuse(route: Route) -> None:
        calls.append(route.request.url)
        problem = {"detail": "too many requests", "remedy": "wait"}
        await route.fulfill(status=429, headers={"Retry-After": "300"}, json=problem)

    await page.clock.install()
    await page.route("**/api/jobs?*", refuse)
    await page.reload()
    alert = page.get_by_role("alert")
    await expect(alert).to_contain_text("too many requests")
    calls.clear()
    for _ in range(28):
        await page.clock.run_for(10_000)
        await page.evaluate("fetch(location.pathname)")
    assert calls == []

    await answer_jobs(page, lambda _: {"jobs": [listed(4)], "next": None})

    await comes(page.get_by_text("train-000004"))
    await expect(alert).to_have_count(0)


@pytest.mark.parametrize("word", ["constructor", "__proto__", "toString"])
async def test_a_word_that_every_object_knows_is_a_word(reader: Reader, word: str) -> None:
    page, path = reader.page, "jobs/job-000001"
    job = listed(1, name=word, state=word, experiment=word, labels={word: word}) | {"history": []}
    files = [{"name": f"x.{word}", "bytes": 2, "modified": None}, {"name": "y", "bytes": None, "kind": word}]
    await answer_live(page, job)
    await answer_tagged(page, f"**/api/{path}/outputs", {"outputs": []})
    await answer_tagged(page, f"**/api/{path}/files?*", {"files": files})
    saved = {"Content-Disposition": "attachment"}
    await page.route("**/files/stdouterr/x.*", lambda route: route.fulfill(body="some text", headers=saved))

    await reader.open(f"{path}/files")
    await page.get_by_role("button", name=f"x.{word}", exact=True).click()

    await expect(page.get_by_text("some text")).to_be_visible()
    await expect(page.get_by_text("This is not an image")).to_have_count(0)
    await expect(page.locator("h1 .state")).to_have_class("state chip is-wait")
    await expect(page.get_by_role("main")).not_to_contain_text("native code")
