"""The code of a job in a browser: its names are its sender's, and only ever text."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from playwright.async_api import Page, Route, expect

from tests.acceptance.door import Door, shell, unique
from tests.browser.one_job.live import answer_live
from tests.browser.reader import PATIENCE, Reader, listed
from tests.browser.trouble.everything import CODE
from tests.doubles.archives import Entry, digest, file, folder, link, packed

pytestmark = pytest.mark.asyncio(loop_scope="session")
_MARKUP = "<img src=x onerror=alert(1)>"
_JOB = "jobs/job-000001"


async def submit(door: Door, *entries: Entry) -> str:
    """The id of a job with this archive as its code."""
    archive = packed(*entries)
    name = digest(archive)
    headers = {"Content_Type": "application/json"}
    status, place, _ = await door.call(
        "POST", "snapshots", {"sha256": name, "bytes": len(archive)}, **headers
    )
    assert status == 200, place
    blob = {"x-ms-blob-type": "BlockBlob", "If-None-Match": "*"}
    async with aiohttp.ClientSession() as http, http.put(place["upload"], data=archive, headers=blob) as put:
        assert put.status == 201
    message = {"name": unique("code"), "spec": shell("true"), "code": {"sha256": name}}
    status, job, _ = await door.call("POST", "jobs", message, **headers)
    assert status == 202, job
    return str(job["id"])


async def answer_code(page: Page, code: Any = None, **listing: Any) -> list[str]:
    """Answer for a job that has ended, with that code; the addresses that are asked for below it."""
    asked_for = list[str]()

    async def answer(route: Route) -> None:
        asked_for.append(route.request.url.partition("/api/")[2])
        await route.fulfill(json={**CODE, "entries": [], "more": False, **listing})

    job = listed(1, history=[], **({"code": code} if code else {}))
    await answer_live(page, job)
    await page.route(f"**/api/{_JOB}/code", answer)
    return asked_for


async def test_the_code_of_a_job_is_listed_and_no_name_in_it_is_more_than_a_text(
    reader: Reader, door: Door
) -> None:
    page = reader.page
    entries = [
        file("run.sh", "#!/bin/sh\n", executable=True),
        file(f"{_MARKUP}.py", f"{_MARKUP}\u202e!"),
        file("data/\u202etxt.exe", "23"),
        folder("empty"),
        link("latest", "run.sh"),
    ]
    job = await submit(door, *entries)
    await reader.open(f"jobs/{job}")
    await page.get_by_role("link", name="Code").click()

    section = page.get_by_role("region", name="Code")
    rows = section.get_by_role("listitem")
    await expect(rows).to_have_count(len(entries), timeout=PATIENCE)
    assert [" ".join((await row.inner_text()).split()) for row in await rows.all()] == [
        "run.sh 10 B executable",
        f"{_MARKUP}.py 32 B",
        "data/\\u202etxt.exe 2 B",
        "empty/ folder",
        "latest link to run.sh",
    ]
    await expect(section).to_contain_text(digest(packed(*entries)))
    await expect(section).to_contain_text("the working directory")
    await expect(section.get_by_text(f"slipway code {job} --to DIR")).to_be_visible()
    await section.get_by_role("button", name=f"{_MARKUP}.py", exact=True).focus()
    await page.keyboard.press("Enter")
    await expect(section.locator(".preview")).to_have_text(f"{_MARKUP}\\u202e!")
    assert await page.locator("img, script:not([src]), iframe, object, embed").count() == 0
    assert await reader.violations_everywhere() == []

    await page.get_by_role("link", name="Run with changes").click(timeout=PATIENCE)
    await expect(page.get_by_label("job.json")).to_contain_text(f'"sha256": "{digest(packed(*entries))}"')
    await page.get_by_role("button", name="Submit").click()
    await expect(page.get_by_role("region", name="About")).to_be_visible(timeout=PATIENCE)
    assert job not in page.url
    await page.get_by_role("link", name="Code").click()
    await expect(rows).to_have_count(len(entries))


async def test_a_long_list_is_turned_page_by_page_and_asked_for_once(reader: Reader) -> None:
    page = reader.page
    await page.clock.install()
    entries = [{"name": f"part-{number:05}.bin", "bytes": 1} for number in range(20_000)]
    asked_for = await answer_code(page, CODE, entries=entries, more=True)
    await reader.open(f"{_JOB}/code")
    await expect(page.get_by_text("part-00499.bin")).to_be_visible()

    await page.get_by_role("button", name="Next 500 names").click()

    await expect(page.get_by_text("part-00999.bin")).to_be_visible()
    await expect(page.get_by_text("part-00499.bin")).to_have_count(0)
    await page.get_by_role("button", name="First names").click()
    await expect(page.get_by_text("part-00000.bin")).to_be_visible()
    await expect(page.get_by_text("slipway code job-000001 --list")).to_be_visible()
    assert await page.evaluate("document.querySelectorAll('main *').length") < 3_000
    for _ in range(10):
        await page.clock.run_for(20_000)
    assert asked_for == [f"{_JOB}/code"]
    assert await reader.violations() == []


@pytest.mark.parametrize("status", [410, 422])
async def test_code_that_cannot_be_listed_is_said_with_the_remedy_and_not_asked_for_again(
    reader: Reader, status: int
) -> None:
    page, count = reader.page, 0
    await page.clock.install()
    await answer_code(page, CODE)

    async def refuse(route: Route) -> None:
        nonlocal count
        count += 1
        problem = {"status": status, "detail": "the code of it was deleted", "remedy": "send it again"}
        await route.fulfill(status=status, json=problem)

    await page.route(f"**/api/{_JOB}/code", refuse)
    await reader.open(f"{_JOB}/code")

    await expect(page.get_by_text("the code of it was deleted. send it again")).to_be_visible()
    await expect(page.get_by_text(CODE["sha256"])).to_be_visible()
    for _ in range(10):
        await page.clock.run_for(20_000)
    assert count == 1
    assert await reader.violations() == []


@pytest.mark.parametrize(
    ("receipt", "text"),
    [
        ({"code": "live"}, "Live: this job mounts what it runs"),
        ({}, "This job does not bring code of its own"),
    ],
)
async def test_a_job_without_an_archive_says_what_it_runs(
    reader: Reader, receipt: dict[str, str], text: str
) -> None:
    page = reader.page
    await answer_code(page)
    await page.route(f"**/api/{_JOB}/receipt", lambda route: route.fulfill(json=receipt))

    await reader.open(f"{_JOB}/code")

    await expect(page.get_by_role("region", name="Code")).to_contain_text(text)
    assert await reader.violations() == []
