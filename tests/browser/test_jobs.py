"""The list of jobs: signing in, filters, thousands of rows, the keyboard, and what an idle page costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from shared.operate.listing import DOORS
from tests.acceptance.door import Door, shell, unique
from tests.browser.conftest import KEY
from tests.browser.every_view.views import pass_time
from tests.browser.one_job.live import answer_live
from tests.browser.reader import (
    PATIENCE,
    Reader,
    answer_jobs,
    comes,
    listed,
    rows,
    search,
    sign_out,
    token,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_wrong_key_is_refused_and_the_right_one_stays_in_the_tab_only(page: Page, door: Door) -> None:
    reader = Reader(page, f"{door.stack.host_url}/api/ui")
    await page.goto(reader.url)
    await page.get_by_label("Function key").fill("wrong")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_text("The deployment refused the last one.")).to_contain_text(
        "does not know the function key"
    )

    await reader.sign_in(KEY)
    await page.reload()

    await expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()
    assert KEY not in page.url
    assert await page.evaluate("Object.values(localStorage).length + document.cookie.length") == 0
    await sign_out(page)
    await expect(page.get_by_label("Function key")).to_be_visible()


async def test_a_job_is_followed_from_its_start_to_its_end_and_text_of_others_is_never_run(
    reader: Reader, door: Door
) -> None:
    page, name = reader.page, unique("canary")
    script = "<img src=x onerror=alert(1)>"
    failing = shell(f'echo "ValueError: {script}" >&2; exit 3')
    await door.send({"name": name, "labels": {"team": script}, "spec": failing})

    row = page.get_by_role("row").filter(has_text=name)
    await expect(row.get_by_text("failed")).to_be_visible(timeout=PATIENCE)
    await expect(row.get_by_text(f"ValueError: {script}")).to_be_visible()
    await row.get_by_role("link", name=name).click()

    await expect(page.get_by_role("heading", name=name)).to_be_visible()
    await expect(page.get_by_text(f"team={script}")).to_be_visible()
    for state in ("accepted", "queued", "failed"):
        await expect(page.get_by_role("listitem").filter(has_text=state).first).to_be_visible()
    assert await page.locator("img").count() == 0


async def test_filters_stand_in_the_address_and_go_to_the_api(reader: Reader) -> None:
    page = reader.page

    def jobs(query: Mapping[str, str]) -> dict[str, Any]:
        return {"jobs": [listed(1, name=query.get("contains", "all"))], "next": None}

    addresses = await answer_jobs(page, jobs)
    await page.get_by_role("button", name="failed").click()
    await page.locator("h1").click()
    await page.keyboard.press("/")
    await page.keyboard.type("train")

    await expect(page.get_by_role("link", name="train", exact=True)).to_be_visible()
    assert page.url.endswith("#/jobs?state=failed&contains=train")
    assert any("state=failed" in url and "contains=train" in url for url in addresses)
    await page.reload()
    await expect(search(page)).to_have_value("train")
    await expect(token(page, "state: failed")).to_be_visible()


async def test_what_is_typed_as_a_key_and_a_value_becomes_a_token_that_backspace_removes(
    reader: Reader,
) -> None:
    page = reader.page
    await answer_jobs(page, lambda query: {"jobs": [listed(1, name=f"of {len(query)}")], "next": None})
    await search(page).focus()
    await page.keyboard.type("team:vision loss source:drop,queue ")

    for text in ("team: vision", "source: drop,queue"):
        await expect(token(page, text)).to_be_visible()
    await expect(page).to_have_url(f"{reader.url}#/jobs?team=vision&source=drop%2Cqueue&contains=loss")
    await page.keyboard.press("Home")
    await page.keyboard.press("Backspace")

    await expect(token(page, "source: drop,queue")).to_have_count(0)
    await expect(page).to_have_url(f"{reader.url}#/jobs?team=vision&contains=loss")
    await expect(search(page)).to_be_focused()
    await token(page, "team: vision").click()
    await page.get_by_role("button", name="failed").click()
    await expect(page).to_have_url(f"{reader.url}#/jobs?contains=loss&state=failed")
    await page.get_by_role("button", name="Clear the search").click()
    await expect(page).to_have_url(f"{reader.url}#/jobs")
    await expect(search(page)).to_have_value("")


async def test_keys_and_values_that_exist_are_offered_and_taken_by_the_keyboard(reader: Reader) -> None:
    page = reader.page
    jobs = [listed(1, owner="ann@example.com", experiment="vision & more"), listed(2, owner="bob")]
    await answer_jobs(page, lambda _: {"jobs": jobs, "next": None})
    shares = [{"team": None, "owner": "<b>mia</b>", "jobs": 1}]
    await page.route(
        "**/api/usage?by=owner", lambda route: route.fulfill(json={"teams": [], "shares": shares})
    )
    await page.reload()
    await expect(rows(page)).to_have_count(2)
    await page.keyboard.press("/")
    options = page.get_by_role("option")

    await page.keyboard.type("ow")
    await expect(options).to_have_text(["owner: who asked for it"])
    await page.keyboard.press("ArrowDown")
    await expect(search(page)).to_have_attribute("aria-activedescendant", "offer-key-owner")
    await page.keyboard.press("Enter")
    await expect(search(page)).to_have_value("owner:")
    await expect(options).to_have_text(["ann@example.com ", "bob ", "<b>mia</b> "])
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    await expect(token(page, "owner: <b>mia</b>")).to_be_visible()
    await page.keyboard.type("experiment:")
    await options.filter(has_text="vision & more").click()

    assert page.url.endswith("#/jobs?owner=%3Cb%3Emia%3C%2Fb%3E&experiment=vision+%26+more")
    await expect(page.get_by_role("listbox")).to_be_hidden()
    assert await reader.violations() == []


async def test_a_search_in_another_view_leads_to_the_list(reader: Reader) -> None:
    page = reader.page
    await answer_jobs(page, lambda query: {"jobs": [listed(1, name=query["contains"])], "next": None})
    await reader.open("operate")
    await page.keyboard.press("/")
    await page.keyboard.type("state:failed out of memory")
    await page.keyboard.press("Enter")

    await expect(page).to_have_url(f"{reader.url}#/jobs?state=failed&contains=out+of+memory")
    await expect(page.get_by_role("link", name="out of memory")).to_be_visible()


async def test_jobs_are_found_by_the_way_they_arrived(reader: Reader, door: Door) -> None:
    page, name = reader.page, unique("way")
    await door.send({"name": f"{name}-queue", "spec": shell("true")})
    document = {"name": f"{name}-http", "spec": shell("true")}
    await door.call("POST", "jobs", document, Content_Type="application/json")
    await search(page).fill(name)
    links = page.get_by_role("link", name=name)
    await expect(links).to_have_count(2, timeout=PATIENCE)
    await search(page).press_sequentially(" source:")
    ways = page.get_by_role("option")
    await expect(ways).to_have_text([f"{door} " for door in DOORS])

    await ways.get_by_text("queue").click()

    await expect(links).to_have_count(1)
    await expect(links).to_have_text(f"{name}-queue")
    assert page.url.endswith(f"#/jobs?contains={name}&source=queue")
    await links.click()
    await page.get_by_role("region", name="About").get_by_role("link", name="queue", exact=True).click()
    await expect(token(page, "source: queue")).to_be_visible()


async def test_ten_thousand_jobs_are_scrolled_with_few_rows_in_the_document(reader: Reader) -> None:
    page, count, size = reader.page, 10_000, 200

    def jobs(query: Mapping[str, str]) -> dict[str, Any]:
        start = int(query.get("after", "0"))
        stop = min(count, start + size)
        return {
            "jobs": [listed(number) for number in range(start, stop)],
            "next": None if stop == count else str(stop),
        }

    await answer_jobs(page, jobs)
    await page.reload()
    table = page.get_by_role("table", name="Jobs")
    await expect(page.get_by_text("train-000000")).to_be_visible()
    while (rowcount := int(await table.get_attribute("aria-rowcount") or 0)) < count + 2:  # heads, and a day
        await page.evaluate("document.querySelector('.rows').scrollTop = 1e9")
        await expect(table).not_to_have_attribute("aria-rowcount", str(rowcount))

    await page.evaluate("document.querySelector('.rows').scrollTop = 1e9")
    await expect(page.get_by_text("train-009999")).to_be_visible()
    assert await page.get_by_role("row").count() < 60


async def test_who_opens_a_job_by_the_keyboard_goes_on_at_its_heading(reader: Reader) -> None:
    page = reader.page
    await answer_jobs(page, lambda _: {"jobs": [listed(1)], "next": None})
    await answer_live(page, listed(1))
    await page.reload()

    await page.get_by_role("link", name="train-000001").press("Enter")

    await expect(page.get_by_role("heading", level=1)).to_be_focused()
    await expect(page.get_by_role("button", name="Run again")).to_be_visible()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Run with changes")).to_be_focused()


async def test_a_job_says_who_asked_for_it_and_how_many_nodes_it_has(reader: Reader) -> None:
    page, members = reader.page, {"owner": "ann@example.com", "nodes": 4}
    jobs = [listed(1, **members), listed(2, door="drop")]
    addresses = await answer_jobs(page, lambda _: {"jobs": jobs, "next": None})
    await page.reload()

    jobs_there = rows(page)
    await expect(jobs_there).to_have_count(2)
    assert await page.get_by_role("columnheader").all_text_contents() == [
        *("", "State", "Job", "Experiment, cluster", "Who, team", "Nodes", "Created", "Waited", "Ran")
    ]
    who = jobs_there.nth(0).get_by_role("cell").nth(4)
    await expect(who).to_have_text("ann")
    await expect(who.get_by_role("link")).to_have_attribute("title", "ann@example.com")
    await expect(jobs_there.nth(0).get_by_role("cell").nth(5)).to_have_text("4")
    await expect(jobs_there.nth(1).get_by_role("cell").nth(4)).to_have_text("drop")

    await who.get_by_role("link").click()

    await expect(token(page, "owner: ann@example.com")).to_be_visible()
    await expect(jobs_there).to_have_count(2)
    assert page.url.endswith("#/jobs?owner=ann%40example.com")
    assert any("owner=ann%40example.com" in url for url in addresses)


async def test_the_list_is_walked_and_a_job_opened_by_the_keyboard_alone(reader: Reader) -> None:
    page = reader.page
    await answer_jobs(page, lambda _: {"jobs": [listed(number) for number in range(150)], "next": None})
    await page.reload()
    first = page.get_by_role("link", name="train-000000")
    await expect(first).to_be_visible()
    for _ in range(30):
        await page.keyboard.press("Tab")
        if await first.evaluate("link => link === document.activeElement"):
            break

    for _ in range(40):
        await page.keyboard.press("ArrowDown")
    await expect(page.get_by_role("link", name="train-000040")).to_be_focused()
    await page.keyboard.press("End")
    await expect(page.get_by_role("link", name="train-000149")).to_be_focused()
    await page.keyboard.press("Enter")

    await expect(page.get_by_role("heading", name="job-000149")).to_be_visible()


async def test_an_idle_page_asks_four_times_a_minute_and_a_hidden_one_never(reader: Reader) -> None:
    page = reader.page
    await page.clock.install()
    addresses = await answer_jobs(page, lambda _: {"jobs": [listed(1, state="running")], "next": None})
    await page.reload()
    await expect(page.get_by_text("train-000001")).to_be_visible()

    async def asked_in(seconds: int) -> int:
        before = len(addresses)
        await pass_time(page, seconds)
        return len(addresses) - before

    await asked_in(60)  # it looks more often just after a change
    assert 2 <= await asked_in(60) <= 4
    await page.evaluate(
        "Object.defineProperty(document, 'hidden', {get: () => true, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    assert await asked_in(60) == 0
    await page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    assert await asked_in(5) >= 1


async def test_an_outage_is_said_and_the_page_recovers_by_itself(reader: Reader) -> None:
    page = reader.page
    await page.clock.install()
    await answer_jobs(page, lambda _: {"jobs": [listed(1)], "next": None})
    await page.reload()
    await expect(page.get_by_text("train-000001")).to_be_visible()
    await page.unroute_all()
    await page.route("**/api/jobs?*", lambda route: route.abort())
    await comes(page.get_by_role("alert").filter(has_text="does not answer"))
    await expect(page.get_by_text("train-000001")).to_be_visible()

    await page.unroute_all()
    await answer_jobs(page, lambda _: {"jobs": [listed(2)], "next": None})

    await comes(page.get_by_text("train-000002"))
    await expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("width", [360, 800, 1920])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_width_and_scheme_is_accessible_and_nothing_sticks_out(
    reader: Reader, width: int, scheme: str
) -> None:
    page = reader.page
    states = ("running", "succeeded", "failed", "cancelled", "lost", "rejected", "queued")
    waits = {"word": "nodes", "text": "waits for nodes " * 20, "since": "2026-11-20T10:00:00Z"}
    jobs = [listed(n, state=state, name=f"{state}-" * 9, waiting=waits) for n, state in enumerate(states)]
    await answer_jobs(page, lambda _: {"jobs": jobs, "next": None})
    await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
    await page.set_viewport_size({"width": width, "height": 900})
    await page.reload()
    await expect(rows(page)).to_have_count(len(states))

    assert await reader.violations() == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_it_works_behind_the_path_of_a_proxy(page: Page, door: Door) -> None:
    async def forward(route: Route) -> None:
        await route.continue_(url=route.request.url.replace("/team/jobs", ""))

    await page.route("**/team/jobs/**", forward)

    await Reader(page, f"{door.stack.host_url}/team/jobs/api/ui/").sign_in(KEY)

    await expect(search(page)).to_be_visible()
