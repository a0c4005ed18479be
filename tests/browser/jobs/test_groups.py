"""The jobs of a list as groups, and a parameter of theirs against a metric."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import Route, expect

from tests.acceptance.door import Door, shell, unique
from tests.browser.reader import PATIENCE, Reader, answer_jobs, listed

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_jobs_are_counted_by_experiment_and_by_sweep(reader: Reader) -> None:
    page = reader.page
    states = ("succeeded", "failed", "failed", "cancelled", "rejected")
    jobs = [listed(n, experiment="first", state=state) for n, state in enumerate(states)]
    sweep = {"id": "s_1", "index": 0, "values": {"lr": 0.1}}
    jobs.append(listed(9, name="tune-0", experiment="<b>second</b>", sweep=sweep))
    addresses = await answer_jobs(page, lambda _: {"jobs": jobs, "next": None})
    await page.reload()

    await page.get_by_role("link", name="By experiment").click()
    first = page.get_by_role("listitem").filter(has_text="first")
    await expect(first.locator(".counts")).to_have_text("1 succeeded2 failed1 cancelled1 rejected")
    await expect(page.get_by_role("link", name="<b>second</b>", exact=True)).to_be_visible()
    assert await reader.violations_everywhere() == []
    await reader.open("jobs?group=sweep&contains=tune")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Sweeps")
    await expect(page.get_by_text("1 of 6 jobs", exact=True)).to_be_visible()
    await page.get_by_role("link", name="tune", exact=True).click()

    await expect(page.get_by_role("table", name="Jobs")).to_be_visible()
    assert page.url.endswith("#/jobs?sweep=s_1")
    assert any("sweep=s_1" in url for url in addresses)


def _sweep(name: str, **members: Any) -> dict[str, Any]:
    numbers = {
        "total": 500,
        "parallel": 1,
        "atWork": 1,
        "waiting": 32,
        "counts": {"succeeded": 466, "lost": 1},
    }
    identity = {"sweepId": f"s_{name}", "name": name, "experiment": "e", "createdAt": "2026-11-20T10:00:00Z"}
    return {**identity, "state": "active", **numbers, **members}


async def test_every_sweep_is_listed_with_the_numbers_of_all_its_jobs(reader: Reader) -> None:
    page = reader.page
    ended = {"state": "ended", "endedAt": "2026-11-20T11:00:00Z", "atWork": 0, "waiting": 0}
    sweeps = [
        _sweep("<b>grid</b>"),
        _sweep("stop", cancelRequested=True),
        _sweep("tune", total=12, counts={"succeeded": 12}, **ended),
    ]
    asked_for: list[str] = []

    async def answer(route: Route) -> None:
        asked_for.append(route.request.url.rpartition("?")[2])
        older = [_sweep("old", counts={"failed": 1}, **ended)] if "since=7d" not in asked_for[-1] else []
        await route.fulfill(json={"sweeps": [*sweeps, *older], "more": bool(older)})

    await page.route("**/api/sweeps?*", answer)
    listed_jobs = await answer_jobs(page, lambda _: {"jobs": [], "next": None})
    await page.get_by_role("link", name="Sweeps").click()

    rows = page.get_by_role("region", name="Sweeps").get_by_role("listitem")
    await expect(page.locator(".title .count")).to_have_text("3 sweeps")
    await expect(rows.locator(".counts")).to_have_text(
        [
            "active, 500 jobs:466 succeeded1 lost1 at work32 waiting",
            "being cancelled, 500 jobs:466 succeeded1 lost1 at work32 waiting",
            "ended, 12 jobs:12 succeeded",
        ]
    )
    await expect(rows.locator(".soft")).to_have_text(
        [re.compile("^begun "), re.compile("^begun "), re.compile("^ended ")]
    )
    await expect(page.get_by_role("link", name="<b>grid</b>", exact=True)).to_be_visible()
    await expect(page.get_by_role("link", name="Compare the jobs of tune")).to_have_attribute(
        "href", "#/jobs?sweep=s_tune&view=compare"
    )
    assert await reader.violations_everywhere() == []
    assert asked_for[0] == "since=7d&limit=200"

    await page.get_by_role("button", name="Include older ones").click()
    await expect(page.locator(".title .count")).to_have_text("4+ sweeps")
    await expect(page.get_by_text("There are more than these 4.")).to_be_visible()
    assert listed_jobs == []
    await page.get_by_role("link", name="tune", exact=True).click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Sweep")
    assert page.url.endswith("#/jobs?sweep=s_tune")


async def test_where_no_sweep_is_recent_the_page_says_so(reader: Reader) -> None:
    page = reader.page
    await page.route("**/api/sweeps?*", lambda route: route.fulfill(json={"sweeps": [], "more": False}))

    await reader.open("jobs?group=sweep")

    await expect(
        page.get_by_text("No sweep is active, and none has ended in the last 7 days.")
    ).to_be_visible()


async def test_a_parameter_is_compared_with_the_last_value_of_a_metric(reader: Reader, door: Door) -> None:
    page, experiment = reader.page, unique("compare")
    for rate in ("0.1", "0.001"):
        lines = "".join(f'{{"slipway": {{"epoch": {epoch}, "loss": {rate}{epoch}}}}}\\n' for epoch in (1, 2))
        spec = shell(f"printf '{lines}'", nodeCount=1)
        document: dict[str, Any] = {"experiment": experiment, "labels": {"rate": rate}, "spec": spec}
        status, _, _ = await door.call("POST", "jobs", document, Content_Type="application/json")
        assert status == 202
    await door.ended(experiment=experiment, labels={"rate": "0.1"})  # type: ignore[arg-type]
    await door.ended(experiment=experiment, labels={"rate": "0.001"})  # type: ignore[arg-type]

    await reader.open(f"jobs?experiment={experiment}&view=compare")

    table = page.get_by_role("table")
    await expect(table.get_by_role("row")).to_have_count(3, timeout=PATIENCE)
    await expect(table.get_by_role("cell").nth(5)).to_have_text("0.12", timeout=PATIENCE)
    await expect(table.get_by_role("cell").nth(2)).to_have_text("0.0012")
    assert await table.get_by_role("cell").all_text_contents() == [
        *(await table.get_by_role("link").nth(0).all_text_contents()),
        *("0.001", "0.0012"),
        *(await table.get_by_role("link").nth(1).all_text_contents()),
        *("0.1", "0.12"),
    ]
    assert await reader.violations() == []
    await page.get_by_role("link", name="rate 0.001, loss 0.0012").click()
    await expect(page.get_by_text("rate=0.001")).to_be_visible()


async def test_sweeps_variables_and_options_are_parameters_and_words_stand_side_by_side(
    reader: Reader,
) -> None:
    page = reader.page
    jobs = [
        listed(1, sweep={"id": "s", "index": 0, "values": {"lr": 1}}),
        listed(2, sweep={"id": "s", "index": 1, "values": {"lr": 2}}),
    ]

    async def answer(route: Route) -> None:
        number = int(route.request.url.split("job-")[1][:6])
        line = f"python a.py --kind {'ab'[number - 1]} --depth={number} -v"
        variables = [{"name": "SEED", "value": str(number)}]
        properties = {"pyTorchSettings": {"commandLineArgs": line}, "environmentVariables": variables}
        points = {"name": "loss", "file": "stdouterr/stdout.txt", "axis": "line", "points": [[1, number]]}
        receipt = route.request.url.endswith("receipt")
        await route.fulfill(
            json={"accepted": {"properties": properties}} if receipt else {"series": [points]}
        )

    await page.route("**/api/jobs/job-*/*", answer)
    await answer_jobs(page, lambda _: {"jobs": jobs, "next": None})
    await page.reload()
    await page.get_by_role("link", name="Compare").click()
    await expect(page.get_by_role("cell", name="train-000001", exact=True)).to_be_visible()

    options = page.get_by_label("Parameter").get_by_role("option")
    await expect(options).to_have_text(["lr", "SEED", "kind", "depth"])  # once their receipts are here
    await page.get_by_label("Parameter").select_option("kind")
    await expect(page.get_by_role("cell", name="b", exact=True)).to_be_visible()
    await expect(page.locator(".scatter circle")).to_have_count(2)
    assert "x=kind" in page.url


@pytest.mark.parametrize(
    ("places", "heights"),
    [
        ([1e308, -1e308, 5], [1, 2, 3]),
        ([1, 2, 3], [1e308, -1e308, 5]),
        ([0, 5e-324, 1e-323], [0, 5e-324, 1e-323]),
        ([2.0**53, 2.0**53 + 2, 2.0**53 + 4], [1e-300, 1e-299, 1e299]),
    ],
)
async def test_any_numbers_are_compared(reader: Reader, places: list[float], heights: list[float]) -> None:
    page = reader.page
    jobs = [
        listed(number, sweep={"id": "s", "index": number, "values": {"__proto__": place}})
        for number, place in enumerate(places)
    ]

    async def answer(route: Route) -> None:
        number = int(route.request.url.split("job-")[1][:6])
        points = {"name": "constructor", "file": "OUT/m", "axis": "line", "points": [[1, heights[number]]]}
        body: dict[str, object] = {"series": [points]}
        await route.fulfill(json={"accepted": {}} if "receipt" in route.request.url else body)

    await page.route("**/api/jobs/job-*/*", answer)
    await answer_jobs(page, lambda _: {"jobs": jobs, "next": None})
    await page.reload()
    await page.get_by_role("link", name="Compare").click()

    circles = page.locator(".scatter circle")
    await expect(circles).to_have_count(sum(abs(one) < 1e300 for one in heights))
    for one in await circles.all():
        assert float(await one.get_attribute("cx") or "nan") > 0
        assert float(await one.get_attribute("cy") or "nan") > 0
