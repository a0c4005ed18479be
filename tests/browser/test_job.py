"""One job in a browser: its log as it is written, its files, its numbers, its webhooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Route, expect

from tests.acceptance.door import Door, shell, unique
from tests.browser.one_job.live import answer_live
from tests.browser.output.log_file import answer_log
from tests.browser.reader import PATIENCE, Reader, listed
from tests.browser.trouble.everything import AT

pytestmark = pytest.mark.asyncio(loop_scope="session")
SCRIPT = "<img src=x onerror=alert(1)>"
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(3)"><script>alert(4)</script></svg>'
HOSTILE = f"""
cd "$AZ_BATCHAI_OUTPUT_OUT"
printf '%s' '{SCRIPT}<script>alert(2)</script>' > page.html
printf '%s' '{DRAWING}' > drawing.svg
printf '%s' '{SCRIPT}' > '{SCRIPT}.txt'
printf 'a,b\\n1,"x, {SCRIPT}"\\n' > table.csv
printf '%s' '{{"name": "{SCRIPT}"}}' > data.json
printf '\\033[31mred {SCRIPT}\\033[0m \\033]0;title\\007plain\\n'
printf '{{"slipway": {{"epoch": 1, "{SCRIPT}": 0.5}}}}\\n{{"slipway": {{"epoch": 2, "{SCRIPT}": 0.25}}}}\\n'
echo warned >&2
"""


async def submit(door: Door, command: str, **envelope: Any) -> str:
    """The id of a job that runs this command, with an output directory OUT."""
    out = [{"id": "OUT", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs", "pathSuffix": "out"}]
    document = {"name": unique("page"), "spec": shell(command, outputDirectories=out), **envelope}
    status, job, _ = await door.call("POST", "jobs", document, Content_Type="application/json")
    assert status == 202, job
    return str(job["id"])


async def test_a_job_says_its_place_in_the_line_that_it_does_nothing_and_what_it_cost(reader: Reader) -> None:
    page, address = reader.page, "jobs/job-000001"
    since = "its GPUs have been idle since 2026-11-20T09:00:00+00:00"
    line = "waits for its turn in the team vision; it is number 3 in its team's line"
    waits = {"word": "TeamQuota", "text": line, "since": AT, "position": 3}
    usage = {"nodeHours": 2, "gpuHours": 8, "cost": 12.5, "currency": "EUR"}
    warning = f"{since}; it ends at 2026-11-20T10:30:00+00:00 unless it works again"
    ended = {"state": "cancelled", "reason": "idle", "message": f"ended as idle: {since}", "usage": usage}
    stages: list[tuple[dict[str, Any], list[str]]] = [
        ({"state": "accepted", "waiting": waits}, [line[1:], "Place in line3"]),
        ({"state": "running", "message": warning}, [warning]),
        (ended, [f"ended as idle: {since}", "2 node-hours, 8 GPU-hours, 12.5 EUR"]),
    ]
    job = listed(1, team="vision", history=[])
    for members, texts in stages:
        shown = {name: value for name, value in {**job, **members}.items() if value}
        await page.unroute_all()
        await answer_live(page, shown)
        await reader.open(address)
        await page.reload()
        for text in texts:
            await expect(page.locator("main")).to_contain_text(text)


async def test_a_running_job_shows_the_lines_that_enter_it_and_who_has(reader: Reader) -> None:
    page, address = reader.page, "jobs/job-000001"
    entry = {"sequence": 2, "state": "running", "at": AT, "attempt": 1, "note": "entered by ann"}
    job = listed(1, state="running", entered=["ann", "bob"], history=[entry])
    await answer_live(page, job)
    await reader.open(address)

    about = page.get_by_role("region", name="About")
    await expect(about.get_by_text("slipway shell job-000001")).to_be_visible()
    await expect(about.get_by_text("slipway forward job-000001 PORT")).to_be_visible()
    await expect(about).to_contain_text("Entered byann, bob")
    await expect(page.get_by_role("region", name="Events")).to_contain_text("entered by ann")

    await answer_live(page, job | {"state": "succeeded"})
    await page.reload()
    await expect(about).to_contain_text("Entered byann, bob")
    await expect(about.get_by_text("slipway shell")).to_have_count(0)


async def test_a_log_is_read_while_it_is_written_and_the_job_is_cancelled(reader: Reader, door: Door) -> None:
    page = reader.page
    job = await submit(door, "echo first; sleep 1; echo second; sleep 600")
    await reader.open(f"jobs/{job}/log")

    await expect(page.get_by_role("log")).to_contain_text("second", timeout=PATIENCE)
    await page.get_by_role("button", name="Cancel").click()
    await page.get_by_role("button", name="Yes, cancel the job").click()

    await expect(page.get_by_role("heading", level=1).get_by_text("cancelled")).to_be_visible(
        timeout=PATIENCE
    )
    assert (await door.call("GET", f"jobs/{job}"))[1]["state"] == "cancelled"


async def test_nothing_that_a_job_wrote_is_run_and_all_of_it_can_be_read(
    reader: Reader, door: Door, tmp_path: Path
) -> None:
    page = reader.page
    job = await submit(door, HOSTILE, notify=[door.hook("page")])
    await reader.open(f"jobs/{job}")
    await expect(page.get_by_text("succeeded").first).to_be_visible(timeout=PATIENCE)

    await page.get_by_role("link", name="Log", exact=True).click()
    await expect(page.get_by_role("log")).to_contain_text(f"red {SCRIPT} plain")
    await expect(page.locator(".ink-1")).to_have_text(f"red {SCRIPT}")
    await page.get_by_role("button", name="stderr", exact=True).click()
    await expect(page.get_by_role("log")).to_have_text("warned")

    await page.get_by_role("link", name="Files").click()
    await page.get_by_role("link", name="OUT", exact=True).click()
    for name, text in (
        ("page.html", "<script>alert(2)</script>"),
        ("drawing.svg", "<script>alert(4)</script>"),
        (f"{SCRIPT}.txt", SCRIPT),
        ("table.csv", f"x, {SCRIPT}"),
        ("data.json", f'"name": "{SCRIPT}"'),
    ):
        await page.get_by_role("button", name=name, exact=True).click()
        await expect(page.locator(".preview")).to_contain_text(text)
    async with page.expect_download() as saving:
        await page.get_by_role("button", name="Download page.html").click()
    await (await saving.value).save_as(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith(SCRIPT)

    await page.get_by_role("link", name="Metrics").click()
    plot = page.get_by_role("figure").filter(has_text=SCRIPT)
    await expect(plot).to_contain_text("0.25")
    assert await page.locator("canvas").count() >= 1

    await page.get_by_role("link", name="Deliveries").click()
    await expect(page.get_by_text("204 in").first).to_be_visible(timeout=PATIENCE)
    assert await page.locator("img, script:not([src]), iframe, object, embed").count() == 0
    assert await reader.violations() == []


async def test_a_job_is_run_again_from_its_receipt(reader: Reader, door: Door) -> None:
    page = reader.page
    job = await submit(door, "echo again")
    await reader.open(f"jobs/{job}")
    await page.get_by_role("button", name="Run again").click(timeout=PATIENCE)

    await expect(page.get_by_role("link", name=job)).to_be_visible(timeout=PATIENCE)
    assert not page.url.endswith(job)


async def test_a_rejected_document_shows_each_problem_with_its_remedy(reader: Reader, door: Door) -> None:
    wrong = {"name": unique("page"), "spec": shell("true", nodeCuont=2)}
    status, refusal, _ = await door.call("POST", "jobs", wrong, Content_Type="application/json")
    assert status == 422

    await reader.open(f"jobs/{refusal['jobId']}/document")

    await expect(reader.page.get_by_role("listitem").filter(has_text="nodeCuont").first).to_be_visible()
    await expect(reader.page.get_by_role("listitem").filter(has_text="nodeCount").first).to_be_visible()


async def test_a_rejected_document_is_shown_as_it_came_mended_in_the_editor_and_run(
    reader: Reader, door: Door
) -> None:
    page, name = reader.page, unique("page")
    wrong = json.dumps({"name": name, "spec": shell("echo mended")}, indent=2).replace(
        "nodeCount", "nodeCuont"
    )
    await door.send(wrong.encode())
    job = await door.ended(name=name)
    await reader.open(f"jobs/{job['id']}/document")
    received = page.get_by_label("The document as it was received")
    await expect(received.locator("mark")).to_have_text(['"nodeCuont"'])
    assert await reader.violations() == []

    await page.get_by_role("link", name="Fix in the editor").click()
    await expect(page.locator(".cm-lintRange-error").filter(has_text="nodeCuont")).to_be_visible()
    text = page.get_by_label("job.json")
    lines = await text.locator(".cm-line").all_text_contents()
    await text.fill("\n".join(lines).replace("nodeCuont", "nodeCount"))
    await page.get_by_role("button", name="Submit").click()

    heading = page.get_by_role("heading", level=1)
    await expect(heading).to_contain_text(f"{name} succeeded", timeout=PATIENCE)


async def test_in_a_document_of_one_line_each_problem_is_marked_behind_what_is_hidden(
    reader: Reader, door: Door
) -> None:
    name = unique("page")
    spec = shell("true", secrets=[{"name": "TOKEN", "value": "hunter2-hunter2"}], jobPriorty="high")
    wrong = json.dumps({"name": name, "spec": spec}).replace("nodeCount", "nodeCuont")
    await door.send(wrong.encode())
    job = await door.ended(name=name)

    await reader.open(f"jobs/{job['id']}/document")
    received = reader.page.get_by_label("The document as it was received")
    await expect(received).to_contain_text("***")
    await expect(received).not_to_contain_text("hunter2")
    await expect(received.locator("mark")).to_have_text(['"nodeCuont"', '"jobPriorty"'])


async def test_an_accepted_document_shows_what_was_found_at_its_line_and_the_variables_of_the_job(
    reader: Reader, door: Door
) -> None:
    page, name = reader.page, unique("page")
    variables = [{"name": "RATE", "value": "0.1"}, {"name": "SLIPWAY_JOB_ID", "value": "mine"}]
    spec = shell("true", environmentVariables=variables, secrets=[{"name": "TOKEN", "value": "hunter22"}])
    _, job, _ = await door.call("POST", "jobs", {"name": name, "spec": spec}, Content_Type="application/json")
    path = "/spec/properties/environmentVariables/1/name"
    finding = {
        "code": "SW999",
        "severity": "warning",
        "message": "a name of ours",
        "remedy": "choose another",
    }

    async def with_problem(route: Route) -> None:
        answer = await (await route.fetch()).json()
        problems = [finding | {"pointer": path, "line": 1}]
        await route.fulfill(json=answer | {"job": answer["job"] | {"problems": problems}})

    await page.route(f"**/api/jobs/{job['id']}/live?*", with_problem)
    await reader.open(f"jobs/{job['id']}/document")
    document = page.get_by_label("The document as it was accepted")

    await expect(document.locator("mark")).to_have_text('"name": "SLIPWAY_JOB_ID",', timeout=PATIENCE)
    await expect(document.locator(".found")).to_have_text("warning SW999: a name of ours")
    rows = page.get_by_role("region", name="Environment variables").get_by_role("row")
    assert [await row.get_by_role("cell").all_text_contents() for row in (await rows.all())[1:]] == [
        ["PYTHONUNBUFFERED", "1", "Slipway"],
        ["RATE", "0.1", "job.json"],
        ["SLIPWAY_JOB_ID", job["id"], "Slipway"],
        ["TOKEN", "***", "a secret of job.json"],
        ["SLIPWAY_ATTEMPT", "1", "Slipway"],
        ["SLIPWAY_TOKEN", "***", "Slipway"],
    ]
    assert "hunter22" not in await page.content()
    assert await reader.violations() == []


async def test_a_hundred_thousand_lines_are_searched_and_scrolled(reader: Reader) -> None:
    page, count = reader.page, 100_000
    await answer_log(page, "".join(f"line {number}\n" for number in range(count)))
    await reader.open("jobs/job-000001/log")
    log = page.get_by_role("log")

    await expect(log.get_by_text(f"line {count - 1}", exact=True)).to_be_in_viewport(timeout=PATIENCE)
    await page.get_by_role("button", name="Earlier lines").click()
    await expect(page.get_by_text("100,000 lines", exact=True)).to_be_visible()
    await page.get_by_label("Lines with").fill("line 77777")
    await expect(log).to_have_text("line 77777")
    await page.get_by_label("Lines with").fill("")
    await page.get_by_label("Follow").check()
    await expect(log.get_by_text(f"line {count - 1}", exact=True)).to_be_in_viewport(timeout=PATIENCE)
    await log.evaluate("box => { box.scrollTop = 0; }")
    await expect(log.get_by_text("line 0", exact=True)).to_be_in_viewport()
