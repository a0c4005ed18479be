"""The view of use: what teams used and reserved, apart, and where it went."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.reader import Reader
from tests.browser.trouble.everything import AT, SHARE, TEAM, USAGE, answer_everything

pytestmark = pytest.mark.asyncio(loop_scope="session")
_OPEN = {
    "name": "speech",
    "quota": None,
    "use": {**TEAM["use"], "waiting": 0, "borrowed": 0, "jobs": 1},
    "months": {"2026-11": {"jobs": 2, "nodeHours": 4, "gpuHours": 8, "cost": 10}},
}
_UNKNOWN = {"name": "lost", "quota": {"jobs": 1}, "use": None, "months": {}, "error": "<b>no answer</b>"}


async def open_usage(reader: Reader, **members: object) -> None:
    await answer_everything(reader.page)
    await reader.page.route("**/api/usage*", lambda route: route.fulfill(json={**USAGE, **members}))


async def test_how_much_a_team_used_and_reserved_is_one_click_away(reader: Reader) -> None:
    page = reader.page
    await open_usage(reader, teams=[_OPEN, TEAM, _UNKNOWN])

    await page.get_by_role("navigation", name="Views").get_by_role("link", name="Usage").click()

    teams = page.get_by_role("region", name="Teams").get_by_role("listitem")
    vision = teams.filter(has_text="vision")
    for text in (
        *(
            "claimed now: 4 of 20 jobs, 8 nodes, 32 GPUs",
            "80 GPU-hours used",
            "of 100",
            "15.5 reserved",
            "96 %",
        ),
        *("100 EUR used", "of 500", "20.25 reserved", "24 %", "3 jobs wait for it", "1 borrowed"),
    ):
        await expect(vision).to_contain_text(text)
    await expect(vision.get_by_role("link", name="vision")).to_have_attribute("href", "#/jobs?team=vision")
    speech = teams.filter(has_text="speech")
    for text in ("claimed now: 1 job, ", "80 GPU-hours used", "no limit", "15.5 reserved", "no quota"):
        await expect(speech).to_contain_text(text)
    await expect(speech.locator(".meter")).to_have_count(0)  # a full one would look used up
    await expect(vision.locator(".meter")).to_have_count(2)
    await expect(teams.filter(has_text="lost")).to_contain_text("Its use is not known: <b>no answer</b>")
    await expect(page.get_by_text("counted since")).to_be_visible()  # later than the month began


async def test_use_is_told_by_month_by_person_and_by_experiment(reader: Reader) -> None:
    page = reader.page
    months = {"2026-10": {"jobs": 1, "nodeHours": 2, "gpuHours": 3, "cost": 4}, **TEAM["months"]}
    unnamed = {name: value for name, value in SHARE.items() if name not in ("owner", "team")}
    shares = [SHARE, {**unnamed, "team": None, "reservedGpuHours": 0, "reservedCost": 0}]
    named = [{**unnamed, "team": "vision", "experiment": "<i>digits</i>"}]
    await open_usage(reader, teams=[{**TEAM, "months": months}], shares=shares)
    await page.route(
        "**/api/usage?by=experiment", lambda route: route.fulfill(json={**USAGE, "shares": named})
    )
    await reader.open("usage")

    rows = page.get_by_role("table").get_by_role("row")
    await expect(rows).to_have_text(
        [
            "MonthTeamJobsNode-hoursGPU-hoursCost",
            "November 2026vision92080100 EUR",
            "October 2026vision1234 EUR",
        ]
    )
    await page.get_by_role("link", name="By person").click()
    await expect(rows.nth(1)).to_have_text("annvision92080100 EUR15.520.25 EUR")
    await expect(rows.nth(1).get_by_role("link", name="ann")).to_have_attribute("href", "#/jobs?owner=ann")
    await expect(rows.nth(2)).to_have_text("a door, or a key without a name92080100 EUR")
    await page.get_by_role("link", name="By experiment").click()
    await expect(rows.nth(1)).to_have_text("<i>digits</i>vision92080100 EUR15.520.25 EUR")
    assert page.url.endswith("#/usage?by=experiment")
    assert await reader.violations_everywhere() == []


async def test_a_deployment_without_teams_says_whose_use_there_is(reader: Reader) -> None:
    page = reader.page
    await open_usage(reader, teams=[], countedSince="2026-11-01T00:00:00Z")
    await reader.open("usage?by=owner")

    await expect(page.get_by_text("There are no teams.")).to_be_visible()
    await expect(page.get_by_role("table").get_by_role("row")).to_have_count(2)
    await expect(page.get_by_text("counted since")).to_have_count(0)
    assert AT not in await page.get_by_role("main").inner_text()
