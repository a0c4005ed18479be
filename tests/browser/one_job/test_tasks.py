"""What people come to a job for, each with the most clicks that it may take."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.one_job.live import answer_live
from tests.browser.one_job.stories import (
    CANCELLED,
    FAILED,
    HELD,
    LOG,
    NEVER,
    REMEDY,
    RUNNING,
    STORIES,
    TRACE,
    WAITING,
    numbers,
)
from tests.browser.reader import SCHEMES, Reader, answer_jobs

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: At most so many clicks from the list of jobs.
MOST = 1
WIDTHS = (1440, 1024, 390)
_OWNER = {"id": "ann", "roles": ["Jobs.Submit"], "teams": [{"name": "vision", "manager": False}]}
#: What is narrower than its text.
_CUT = """[...document.querySelectorAll('.chip, .brief dd, .acts *, .events time, .waits dd, .from span')]
    .filter(one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
    .map(one => one.outerHTML.slice(0, 100))"""


async def open_list(reader: Reader, job: dict[str, Any]) -> Page:
    """The list with this job, as its owner sees it."""
    page = reader.page
    await page.route("**/api/me", lambda route: route.fulfill(json=_OWNER))
    await answer_jobs(page, lambda _: {"jobs": [job], "next": None})
    hasnt_run = job["state"] == "accepted"
    await answer_live(page, job, log={} if hasnt_run else LOG, series=[] if hasnt_run else numbers())
    await reader.open("jobs")
    await page.reload()
    await expect(page.get_by_role("link", name=job["name"])).to_be_visible()
    return page


async def click_job(page: Page, job: dict[str, Any]) -> int:
    """Open it; how many clicks that takes."""
    await page.get_by_role("link", name=job["name"]).click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text(job["state"])
    return 1


async def test_why_a_job_failed_is_on_top_with_its_traceback_and_the_remedy(reader: Reader) -> None:
    page = await open_list(reader, FAILED)

    clicks = await click_job(page, FAILED)

    why = page.get_by_role("region", name="Why")
    await expect(why.get_by_role("heading")).to_have_text(TRACE[-1])
    await expect(why.get_by_role("group", name="The last lines")).to_contain_text(TRACE[0])
    for text in (REMEDY, "exit code 1"):
        await expect(why.get_by_text(text, exact=True)).to_be_in_viewport()
    assert clicks <= MOST


async def test_the_log_of_a_job_that_failed_opens_at_its_error_with_numbers_folded(reader: Reader) -> None:
    page = await open_list(reader, FAILED)
    await click_job(page, FAILED)
    log = page.get_by_role("log")

    await expect(log.locator(".marked-line .text")).to_have_text(list(TRACE))
    await expect(log.locator(".err")).to_have_count(len(TRACE) + 1)
    folds = log.get_by_role("button", name="9 lines of metrics")
    await expect(folds).to_have_count(4)
    await folds.first.click()
    await expect(log.get_by_text('{"slipway": {"epoch": 1,')).to_be_visible()
    await page.get_by_label("Fold metrics").uncheck()
    await expect(folds).to_have_count(0)
    await page.get_by_role("link", name="Show it in the log").click()
    await expect(page.get_by_role("region", name="Log")).to_be_in_viewport()


async def test_when_a_job_starts_and_its_place_in_line_need_no_click(reader: Reader) -> None:
    page = await open_list(reader, WAITING)
    await page.clock.install(time="2026-11-20T10:10:00Z")
    await reader.open("jobs/job-000001")

    why = page.get_by_role("region", name="Why")
    await expect(why.get_by_role("heading")).to_have_text("Waits for its turn in the team vision")
    await expect(why).to_contain_text("Place in line3")
    await expect(why).to_contain_text("Startsin 30 min")
    await expect(why).to_contain_text("it starts after 3 jobs of its team have ended")
    await expect(why).to_have_count(1)  # its message says the same in fewer words


async def test_a_job_that_can_never_start_is_red_and_says_what_to_change(reader: Reader) -> None:
    page = await open_list(reader, NEVER)
    await click_job(page, NEVER)

    await expect(page.locator(".why-fail")).to_contain_text("it asks for 8 nodes, and gpu has at most 4")
    await expect(page.locator(".why-fail")).to_contain_text("Cancel it, and run it with changes")
    await expect(page.get_by_role("link", name="Run with changes")).to_have_attribute(
        "href", "#/new?from=job-000001"
    )


async def test_the_use_of_the_gpus_stands_beside_the_log_of_a_running_job(reader: Reader) -> None:
    page = await open_list(reader, RUNNING)
    await page.set_viewport_size({"width": 1440, "height": 900})

    clicks = await click_job(page, RUNNING)
    await page.get_by_role("log").scroll_into_view_if_needed()

    use = page.get_by_role("figure").filter(has_text="GPU use, %")
    await expect(use).to_contain_text("GPU 0 node 1 91")
    log, plot = await page.get_by_role("log").bounding_box(), await use.bounding_box()
    assert log is not None
    assert plot is not None
    assert log["x"] + log["width"] <= plot["x"]
    assert log["y"] - 80 <= plot["y"] <= log["y"] + log["height"]
    assert clicks <= MOST


async def test_who_cancelled_a_job_is_said_to_its_owner(reader: Reader) -> None:
    page = await open_list(reader, CANCELLED)

    clicks = await click_job(page, CANCELLED)

    await expect(page.get_by_role("heading", name="Cancelled by bob@example.com")).to_be_in_viewport()
    await expect(page.get_by_role("region", name="Events")).to_contain_text("cancelled by bob@example.com")
    assert clicks <= MOST


async def test_the_nodes_of_a_held_job_are_released_after_a_question(reader: Reader) -> None:
    page, posts = await open_list(reader, HELD), list[str]()

    async def release(route: Route) -> None:
        posts.append(route.request.method)
        await route.fulfill(status=202, json=HELD)

    await page.route("**/api/jobs/job-000001/release", release)
    await click_job(page, HELD)
    await expect(page.get_by_role("region", name="Why")).to_contain_text("its nodes are kept until")

    await page.get_by_role("button", name="Release the nodes").click()
    assert posts == []
    async with page.expect_response("**/release"):
        await page.get_by_role("button", name="Yes, release the nodes").click()

    assert posts == ["POST"]


async def test_a_key_leads_to_run_again_and_an_error_without_a_remedy_says_where_to_go_on(
    reader: Reader,
) -> None:
    job = {name: value for name, value in FAILED.items() if name != "remedy"}
    page = await open_list(reader, job)
    await click_job(page, job)

    await expect(page.get_by_role("region", name="Why")).to_contain_text("run it with changes")
    await page.keyboard.press("r")

    await expect(page.get_by_role("button", name="Run again")).to_be_focused()


async def test_a_remedy_is_a_sentence_and_names_lines_only_where_some_stand(reader: Reader) -> None:
    bare = {name: value for name, value in FAILED.items() if name not in ("remedy", "errorLines")}
    page = await open_list(reader, bare)
    await click_job(page, bare)
    why = page.get_by_role("region", name="Why")

    await expect(why).to_contain_text("Change what failed, and run it with changes")
    await answer_live(page, {**bare, "remedy": "a disk is full: keep less"}, log=LOG, series=numbers())
    await page.reload()

    await expect(why).to_contain_text("A disk is full: keep less")


async def test_the_phases_are_a_picture_with_a_sentence(reader: Reader) -> None:
    page = await open_list(reader, FAILED)
    await click_job(page, FAILED)

    sentence = (
        await page.get_by_role("region", name="What happened").get_by_role("img").get_attribute("aria-label")
    )

    assert sentence is not None
    assert sentence.startswith(
        "Attempt 1 waited 2 min 00 s: waits for the quota of vision, queued 2 min 00 s, ran"
    )
    assert "Attempt 2 waited 2 min 00 s" in sentence
    assert "exit code 1, on 2 nodes." in sentence


async def test_train_and_validation_share_a_plot_and_no_label_of_an_axis_is_there_twice(
    reader: Reader,
) -> None:
    page = await open_list(reader, RUNNING)
    await page.evaluate(
        """() => {
            const drawing = CanvasRenderingContext2D.prototype, { clearRect, fillText } = drawing;
            drawing.clearRect = function (...area) { this.canvas.texts = []; clearRect.apply(this, area); };
            drawing.fillText = function (text, ...more) {
                this.canvas.texts.push(text);
                fillText.call(this, text, ...more);
            };
        }"""
    )
    near = [{**one, "points": [[x, 0.1 + y / 1e5] for x, y in one["points"]]} for one in numbers()[:2]]
    await page.unroute("**/api/jobs/job-000001/live?*")
    await answer_live(page, RUNNING, log=LOG, series=near)
    await click_job(page, RUNNING)

    plot = page.get_by_role("figure")
    await expect(plot).to_have_count(1)
    await expect(plot).to_contain_text("loss")
    await expect(plot).to_contain_text("val_loss")
    texts = await plot.locator("canvas").evaluate("canvas => canvas.texts")
    up = [text for text in texts if "." in text]
    assert len(up) > 1
    assert len(set(up)) == len(up), up


@pytest.mark.parametrize("name", STORIES)
async def test_each_kind_of_job_is_accessible_and_nothing_of_it_is_cut(reader: Reader, name: str) -> None:
    page, job = await open_list(reader, STORIES[name]), STORIES[name]
    await click_job(page, job)
    problems = []
    for width in WIDTHS:
        await page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            await page.emulate_media(color_scheme=scheme)
            problems += [f"{width} {scheme}: {one}" for one in await reader.violations()]
        if not await page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            problems.append(f"{width}: it sticks out")
        problems += [f"{width}: cut: {one}" for one in await page.evaluate(_CUT)]
    assert problems == []
