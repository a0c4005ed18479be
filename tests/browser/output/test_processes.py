"""Which process of a job the log is of, and processes that begin to write later than others."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import Route, expect

from tests.browser.one_job.live import live, part
from tests.browser.reader import Reader, comes, listed

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def open_log(reader: Reader, names: list[str], state: str) -> list[str]:
    """The log of a job whose processes have these names; the addresses that are asked for, as they come."""
    page, addresses = reader.page, list[str]()
    job = {**listed(1, state=state), "history": []}
    if state == "running":
        job.pop("endedAt")

    async def answer(route: Route) -> None:
        addresses.append(route.request.url)
        query = parse_qs(urlsplit(route.request.url).query)
        file = query.get("file", [next((one for one in names if one.startswith("stdout")), "")])[0]
        shown = [one for one in (file, file.replace("stdout", "stderr")) if one in names]
        body = live(job, {one: f"I am {one}\n" for one in dict.fromkeys(shown)})
        await route.fulfill(json={**body, "files": names})

    await page.route("**/api/jobs/job-000001/live?*", answer)
    await reader.open("jobs/job-000001/log")
    return addresses


async def test_a_process_that_writes_later_than_others_is_found_while_the_job_runs(reader: Reader) -> None:
    page, names = reader.page, list[str]()
    await page.clock.install()
    await open_log(reader, names, "running")
    await expect(page.get_by_role("log", name="stdout.txt")).to_be_visible()

    names.append("stdout-0.txt")
    await comes(page.get_by_text("I am stdout-0.txt"))

    names.append("stdout-1.txt")
    await comes(page.get_by_role("group", name="Process").get_by_role("button", name="rank 1"))


async def test_both_streams_of_a_process_are_shown_and_each_alone(reader: Reader) -> None:
    page = reader.page
    names = ["stdout-0.txt", "stderr-0.txt", "stdout-1.txt", "stderr-1.txt", "execution.log"]
    await open_log(reader, names, "succeeded")
    log, processes = page.get_by_role("log"), page.get_by_role("group", name="Process").get_by_role("button")
    await expect(processes).to_have_text(["rank 0", "rank 1"])

    await expect(log.locator(".line")).to_have_text(["I am stdout-0.txt", "I am stderr-0.txt"])
    await expect(log.locator(".err")).to_have_text("I am stderr-0.txt")
    await expect(page.get_by_role("button", name="Download stderr-0.txt")).to_be_visible()
    await page.get_by_label("Lines with").fill("am")
    await expect(page.locator(".part").get_by_role("status")).to_have_text("2 lines of the log")

    await processes.nth(1).click()
    await page.get_by_role("button", name="stderr", exact=True).click()
    await expect(log).to_have_text("I am stderr-1.txt")
    await page.get_by_label("Other files").select_option("execution.log")
    await expect(page.get_by_role("group", name="Streams")).to_have_count(0)


async def test_a_process_that_was_shown_without_its_name_keeps_its_lines_when_it_is_named(
    reader: Reader,
) -> None:
    page, job = reader.page, {**listed(1, state="running"), "history": []}
    job.pop("endedAt")

    async def answer(route: Route) -> None:
        query = parse_qs(urlsplit(route.request.url).query)
        name = query.get("file", ["stdout-0.txt"])[0]
        places = dict(one.split(":") for one in query.get("after", [""])[0].split() if one)
        start, data = int(places.get(name, 0)), f"first of {name}\n".encode()
        size = max(start, len(data))
        log = [part(name, start, data[start:], size)] if start < len(data) else []
        after = " ".join(f"{one}:{place}" for one, place in {**places, name: str(size)}.items())
        body = live(job, {}, next=after)
        await route.fulfill(json={**body, "log": log, "files": ["stdout-0.txt", "stdout-1.txt"]})

    await page.route("**/api/jobs/job-000001/live?*", answer)
    await reader.open("jobs/job-000001/log")
    await expect(page.get_by_role("log")).to_have_text("first of stdout-0.txt")
    for rank in (1, 0):
        await page.get_by_role("button", name=f"rank {rank}", exact=True).click()
        await expect(page.get_by_role("log")).to_have_text(f"first of stdout-{rank}.txt")


async def test_many_processes_are_in_a_list(reader: Reader) -> None:
    page, names = reader.page, [f"stdout-{rank}.txt" for rank in range(12)]
    await open_log(reader, names, "succeeded")
    await expect(page.get_by_label("Process").locator("option")).to_have_text(
        [f"rank {rank}" for rank in range(12)]
    )

    await page.get_by_label("Process").select_option("rank 11")

    await expect(page.get_by_role("log")).to_have_text("I am stdout-11.txt")


async def test_each_attempt_has_its_log_and_its_files(reader: Reader) -> None:
    page = reader.page
    history = [
        {"sequence": 1, "state": "running", "at": "2026-01-01T12:00:00Z", "attempt": 1},
        {"sequence": 2, "state": "accepted", "at": "2026-01-01T12:01:00Z", "attempt": 2, "note": "failed"},
        {"sequence": 3, "state": "running", "at": "2026-01-01T12:02:00Z", "attempt": 2},
    ]
    job = {**listed(1, state="running"), "attempt": 2, "history": history}
    job.pop("endedAt")

    async def files(route: Route) -> None:
        await route.fulfill(json={"files": [{"name": "stderr.txt", "bytes": 9, "modified": None}]})

    async def answer(route: Route) -> None:
        (attempt,) = parse_qs(urlsplit(route.request.url).query).get("attempt", ["2"])
        await route.fulfill(json=live(job, {"stdout.txt": f"attempt {attempt}\n"}))

    await page.route("**/api/jobs/job-000001/live?*", answer)
    await page.route("**/api/jobs/job-000001/files?*", files)
    await page.route("**/api/jobs/job-000001/outputs*", lambda route: route.fulfill(json={"outputs": []}))
    await reader.open("jobs/job-000001")

    await page.get_by_role("link", name="Log of attempt 1").click()
    await expect(page.get_by_role("log")).to_have_text("attempt 1")
    await page.get_by_role("link", name="Attempt 2").click()
    await expect(page.get_by_role("log")).to_have_text("attempt 2")
    await reader.open("jobs/job-000001/files")
    files_part = page.get_by_role("region", name="Files")
    async with page.expect_request("**/files?*attempt=1*"):
        await files_part.get_by_role("link", name="Attempt 1").click()
    await expect(files_part.get_by_role("link", name="Attempt 1")).to_have_attribute("aria-current", "page")
    await expect(page.get_by_role("button", name="stderr.txt", exact=True)).to_be_visible()
    assert await reader.violations() == []


async def test_the_longest_name_of_a_process_fits_a_telephone(reader: Reader) -> None:
    page = reader.page
    await page.set_viewport_size({"width": 360, "height": 740})
    await open_log(reader, ["stdout.txt", f"execution-{'tvm-840350604-' * 8}p.log"], "succeeded")

    await expect(page.get_by_role("log")).to_contain_text("I am stdout.txt")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
