"""Days, folds, and the chosen jobs of the list; what is cut of it, and what is not."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.jobs.scene import LONG, NOW, after, answer_week, failed, job, noon, written
from tests.browser.reader import Reader, rows

pytestmark = pytest.mark.asyncio(loop_scope="session")
WIDTHS = (1440, 1024, 390)


def week() -> list[dict[str, Any]]:
    waits = {"word": "TeamQuota", "text": "waits for its turn in the team vision", "since": written(NOW)}
    start = {"latest": written(NOW + timedelta(minutes=40)), "why": "after others"}
    return [
        job(1, "running", NOW - timedelta(seconds=3), name=LONG),
        job(2, "accepted", NOW - timedelta(seconds=4), waiting=waits, expectedStart=start),
        *(failed(number, noon(1) - timedelta(minutes=number)) for number in range(3, 9)),
        job(9, "cancelled", noon(1) - timedelta(hours=1), cancelledBy="mia@example.com"),
        failed(10, noon(6), name="alone"),
        job(11, "succeeded", noon(6) - timedelta(minutes=1), owner="bob"),
    ]


async def open_week(reader: Reader, address: str = "jobs") -> list[dict[str, str]]:
    queries = await answer_week(reader.page, week())
    await reader.open(address)
    await reader.page.reload()
    await expect(rows(reader.page).first).to_be_visible()
    return queries


async def test_jobs_stand_under_their_days_with_the_time_alone(reader: Reader) -> None:
    page = reader.page
    await open_week(reader)

    day = noon(6).strftime("%A")
    await expect(page.get_by_role("heading", level=2)).to_have_count(3)
    titles = await page.get_by_role("heading", level=2).all_text_contents()
    assert titles[1] == "Yesterday" or titles[0] == "Yesterday"  # at midnight of the reader
    assert day in titles[2]
    time = rows(page).last.locator("time")
    await expect(time).to_have_attribute("datetime", written(noon(6) - timedelta(minutes=1)))
    assert len(await time.inner_text()) <= len("11:59 AM")
    assert str(NOW.year) in (await time.get_attribute("title") or "")


async def test_equal_failures_of_a_day_are_one_row_that_opens(reader: Reader) -> None:
    page = reader.page
    await open_week(reader)
    fold = page.get_by_role("button", name="train-003 … 008")
    row = rows(page).filter(has=fold)
    await expect(row).to_contain_text("6 jobs, one error")
    await expect(row).to_contain_text("AssertionError: shard 3 is empty")  # the words of the newest
    await expect(page.get_by_role("link", name="train-004")).to_have_count(0)
    await expect(page.get_by_role("link", name="alone")).to_be_visible()  # the same cause, on another day
    before = await rows(page).count()

    await fold.click()

    await expect(fold).to_have_attribute("aria-expanded", "true")
    await expect(rows(page)).to_have_count(before + 6)
    await expect(page.get_by_role("link", name="train-004")).to_be_visible()
    await expect(fold).to_be_in_viewport()
    assert await reader.violations() == []


async def test_the_list_says_why_a_job_waits_when_it_starts_and_who_ended_another(reader: Reader) -> None:
    page = reader.page
    await open_week(reader)

    waits = rows(page).filter(has_text="train-002")
    await expect(waits).to_contain_text("waits for its turn in the team vision")
    await expect(waits).to_contain_text("starts by ")
    await expect(rows(page).filter(has_text="train-009")).to_contain_text("cancelled by mia after 1 min")


async def test_keys_walk_choose_and_open(reader: Reader) -> None:
    page = reader.page
    await open_week(reader)
    boxes = page.locator(".room input:checked")

    await page.keyboard.press("j")
    await expect(page.get_by_role("link", name=LONG)).to_be_focused()
    await page.keyboard.press("j")
    await expect(page.get_by_role("link", name="train-002")).to_be_focused()
    await page.keyboard.press("x")
    await expect(page.get_by_role("checkbox", name="Choose train-002")).to_be_checked()
    await page.keyboard.press("j")
    await expect(page.get_by_role("button", name="train-003 … 008")).to_be_focused()
    await page.keyboard.press("x")  # the fold: its six jobs
    await expect(page.get_by_role("region", name="Chosen jobs")).to_contain_text("7 chosen")
    await expect(boxes).to_have_count(2)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("link", name="train-003")).to_be_visible()
    await page.keyboard.press("k")
    await expect(page.get_by_role("link", name="train-002")).to_be_focused()
    await page.keyboard.press("Enter")

    await expect(page).to_have_url(f"{reader.url}#/jobs/job-000002")


async def cancelled(page: Page, answers: list[tuple[int, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Answer cancellations of all that fit, in turn; their bodies."""
    bodies: list[dict[str, Any]] = []

    async def answer(route: Route) -> None:
        bodies.append(json.loads(route.request.post_data or ""))
        status, body = answers[min(len(bodies), len(answers)) - 1]
        await route.fulfill(status=status, json=body)

    await page.route("**/api/jobs/cancel", answer)
    return bodies


async def test_another_number_than_expected_is_counted_and_asked_for_again(reader: Reader) -> None:
    page = reader.page
    await open_week(reader, "jobs?owner=ann%40example.com&contains=train")
    refusal = {"status": 409, "detail": "2 jobs fit, and 1 were expected", "remedy": "x", "number": 2}
    refused = [{"id": "job-000002", "name": "<b>train</b>", "why": "it is of <i>another</i>"}]
    bodies = await cancelled(page, [(409, refusal), (202, {"jobs": [], "refused": refused})])
    await page.get_by_role("checkbox", name="All that fit the search").check()
    await page.get_by_role("button", name="Cancel 1", exact=True).click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("button", name="No")).to_be_visible()

    await dialog.get_by_role("button", name="Cancel 1 job").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("2 jobs fit, and 1 were expected")
    await dialog.get_by_role("button", name="Cancel 1 job").click()

    await expect(dialog).to_contain_text("1 of 1 job could not be cancelled")
    await expect(dialog).to_contain_text("<b>train</b>: it is of <i>another</i>")
    until = after(NOW - timedelta(seconds=4))
    conditions = {"owner": "ann@example.com", "contains": "train", "state": "active", "until": until}
    assert bodies == [{"conditions": conditions, "expected": 1}] * 2
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("region", name="Chosen jobs")).to_have_count(0)


async def test_chosen_jobs_are_cancelled_or_run_again_one_by_one(reader: Reader) -> None:
    page, calls = reader.page, list[str]()
    await open_week(reader)

    async def answer(route: Route) -> None:
        calls.append(route.request.url.partition("/api/jobs/")[2])
        status = 409 if "000009" in calls[-1] and calls.count(calls[-1]) == 1 else 202
        await route.fulfill(status=status, json={"detail": "<b>not now</b>"})

    await page.route("**/api/jobs/*/cancel", answer)
    await page.route("**/api/jobs/*/rerun", answer)
    for name in ("train-002", "train-009", "alone"):
        await page.get_by_role("checkbox", name=f"Choose {name}").check()
    bar = page.get_by_role("region", name="Chosen jobs")
    await expect(bar).to_contain_text("3 chosenof 11 that fit the search")

    await bar.get_by_role("button", name="Cancel 1").click()
    await page.get_by_role("dialog").get_by_role("button", name="No").click()
    assert calls == []
    await bar.get_by_role("button", name="Run 2 again").click()
    await page.get_by_role("button", name="Run 2 jobs again").click()
    await expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("<b>not now</b>")
    await page.get_by_role("button", name="Try the rest again").click()

    await expect(page.get_by_role("dialog")).to_have_count(0)
    assert sorted(calls) == ["job-000009/rerun", "job-000009/rerun", "job-000010/rerun"]


async def test_of_ended_jobs_and_searches_for_errors_nothing_is_offered_to_cancel(reader: Reader) -> None:
    page = reader.page
    for address in ("jobs?state=failed", "jobs?error=shard+%23", "jobs?order=ended"):
        await answer_week(page, [failed(number, noon(1)) for number in range(3)])
        await reader.open(address)
        await page.get_by_role("checkbox", name="All that fit the search").check()

        bar = page.get_by_role("region", name="Chosen jobs")
        await expect(bar.get_by_role("button", name="Run 3 again")).to_be_visible()
        await expect(bar.get_by_role("button", name="Cancel")).to_have_count(0)
        await bar.get_by_role("button", name="Choose none").click()


#: What is cut of a row though it may not be, and names of which hardly a letter remains.
_CUT = """() => [...document.querySelectorAll('.room .row')].flatMap(row => {
    const cells = ['state', 'time', 'ran'].map(name => row.querySelector(`.cell-${name}`)).filter(Boolean);
    const shown = cells.filter(one => one.checkVisibility() && one.textContent);
    const bad = shown.filter(one => {
        const inner = document.createRange();
        inner.selectNodeContents(one);
        const [text, box] = [inner.getBoundingClientRect(), one.getBoundingClientRect()];
        return text.width > box.width + 1 || text.right > innerWidth;
    });
    if (row.classList.contains('day')) return [];
    const cut = row.querySelector('.name:has(.middle > :nth-child(2))');
    const name = cut?.getBoundingClientRect() ?? {width: 999};
    return [...bad.map(one => one.textContent), ...(name.width < 60 ? [`${name.width} of a name`] : []),
        ...(shown.length < (row.querySelector('.cell-ran').textContent ? 3 : 2) ? ['hidden'] : [])];
})"""


@pytest.mark.parametrize("width", WIDTHS)
async def test_state_time_and_duration_are_never_cut_and_the_first_row_is_high_up(
    reader: Reader, width: int
) -> None:
    page = reader.page
    await page.set_viewport_size({"width": width, "height": 900})
    start = NOW - timedelta(days=12, hours=5, minutes=59)
    jobs = [*week(), job(30, "running", start, name=LONG, startedAt=written(start))]
    jobs += [job(31, "succeeded", noon(8), name=LONG, endedAt=written(noon(7) + timedelta(hours=11)))]
    await answer_week(page, jobs)
    await reader.open("jobs")
    await page.reload()
    await expect(rows(page).first).to_be_visible()

    assert await page.evaluate(_CUT) == []
    box = await rows(page).first.bounding_box()
    assert box is not None
    assert box["y"] < (400 if width == 390 else 260)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    end = page.get_by_role("link", name=LONG).first.locator(".middle > :last-child")
    shown = await end.bounding_box()
    assert shown is not None
    assert shown["x"] + shown["width"] <= width
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert await reader.violations() == []
        await page.get_by_role("checkbox", name="Choose train-002").check()
    await page.emulate_media(color_scheme="null")


async def test_on_a_telephone_the_page_scrolls_and_few_rows_are_in_the_document(reader: Reader) -> None:
    page = reader.page
    await page.set_viewport_size({"width": 390, "height": 844})
    jobs = [job(number, "succeeded", NOW - timedelta(seconds=number)) for number in range(2_000)]
    await answer_week(page, jobs)
    await reader.open("jobs")
    await page.reload()
    await expect(page.get_by_role("link", name="train-000", exact=True)).to_be_visible()
    assert await rows(page).count() < 60

    await page.evaluate("scrollTo(0, document.body.scrollHeight)")

    await expect(page.get_by_role("link", name="train-1999")).to_be_in_viewport()
    assert await rows(page).count() < 60
    await page.get_by_role("link", name="train-1990").focus()
    await page.keyboard.press("Home")
    await expect(page.get_by_role("link", name="train-000", exact=True)).to_be_focused()


async def test_who_may_not_end_the_jobs_of_others_is_asked_about_their_own(reader: Reader) -> None:
    page, calls = reader.page, list[str]()
    me = {"id": "ann@example.com", "roles": ["Jobs.Submit"], "teams": [{"name": "vision", "manager": False}]}
    await page.route("**/api/me", lambda route: route.fulfill(json=me))
    await answer_week(page, [job(1, "running", NOW), job(2, "running", NOW, owner="bob")])

    async def answer(route: Route) -> None:
        calls.append(route.request.url.partition("/api/jobs/")[2])
        await route.fulfill(status=202, json={})

    await page.route("**/api/jobs/*/cancel", answer)
    await page.reload()
    await page.get_by_role("checkbox", name="All that fit the search").check()
    await page.get_by_role("button", name="Cancel 1", exact=True).click()
    await page.get_by_role("button", name="Cancel 1 job", exact=True).click()

    await expect(page.get_by_role("dialog")).to_have_count(0)
    assert calls == ["job-000001/cancel"]


async def test_a_printed_list_has_all_rows_that_are_loaded(reader: Reader) -> None:
    page = reader.page
    jobs = [job(number, "succeeded", NOW - timedelta(seconds=number)) for number in range(300)]
    await answer_week(page, jobs)
    await page.reload()
    await expect(rows(page).first).to_be_visible()

    await page.emulate_media(media="print")
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")

    await expect(rows(page)).to_have_count(300)
    await expect(page.get_by_role("region", name="Chosen jobs")).to_have_count(0)
    await page.emulate_media(media="null")
    await page.evaluate("dispatchEvent(new Event('afterprint'))")
    await expect(page.get_by_role("link", name="train-299")).to_have_count(0)
