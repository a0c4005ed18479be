"""Clusters and operation in a browser, and every view on a telephone."""

from __future__ import annotations

import re
import time

import pytest
from playwright.async_api import Page, Route, expect

from tests.acceptance.door import Door, shell, unique
from tests.browser.reader import PATIENCE, Reader, listed
from tests.browser.trouble.everything import AT, answer_everything

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_cluster_shows_its_nodes_and_the_jobs_that_run_there(reader: Reader, door: Door) -> None:
    page, name = reader.page, unique("page")
    document = {"name": name, "spec": shell("sleep 600")}
    _, job, _ = await door.call("POST", "jobs", document, Content_Type="application/json")
    await reader.open("clusters")

    row = page.get_by_role("list", name=re.compile("Jobs on")).get_by_role("listitem").filter(has_text=name)
    await expect(row).to_contain_text("running", timeout=PATIENCE)
    await expect(page.get_by_text("of at most 2 nodes")).to_be_visible()

    await door.call("POST", f"jobs/{job['id']}/cancel")
    await expect(row).to_have_count(0, timeout=PATIENCE)


#: The colours of a chart from the bottom to the top, each with its pixels, at a part of its width.
_COLUMN = """(canvas, part) => {
    const { width, height } = canvas, context = canvas.getContext('2d'), runs = [];
    const { data } = context.getImageData(Math.round(width * part), 0, 1, height);
    for (let y = height - 1; y >= 0; y -= 1) {
        const [red, green, blue, alpha] = data.slice(4 * y, 4 * y + 4);
        if (alpha < 250 || Math.max(red, green, blue) - Math.min(red, green, blue) < 80) continue;
        const blues = red > green ? 'purple' : 'blue';
        const name = blue > green && blue > red ? blues : green > red ? 'green' : 'orange';
        if (runs.at(-1)?.name === name) runs.at(-1).size += 1;
        else runs.push({ name, size: 1 });
    }
    return runs.filter(run => run.size > 3).map(run => [run.name, run.size]);
}"""


async def test_the_chart_of_a_cluster_stacks_its_nodes_and_leaves_out_what_no_one_counted(
    reader: Reader,
) -> None:
    page, now = reader.page, int(time.time())
    # 100 minutes: one node idle, two at work and one in preparation; an hour without counts; two idle.
    before = [[at, 1, 2, 1] for at in range(now - 6000, now - 4800, 60)]
    points = [*before, [now - 1200, 2, 0, 0], [now - 600, 2, 0, 0], [now - 60, 2, 0, 0]]
    history = {"states": ["idle", "running", "preparing"], "points": points}
    cluster = {"name": "gpu", "engine": "slurm", "state": "steady", "nodes": 2, "history": history}
    await page.route("**/api/clusters?*", lambda route: route.fulfill(json={"clusters": [cluster]}))
    await reader.open("clusters")
    chart = page.get_by_role("figure", name="Nodes of gpu").locator("canvas")
    await expect(chart).to_be_visible()

    stack = await chart.evaluate(_COLUMN, 0.15)
    assert [name for name, _ in stack] == ["green", "blue", "orange"]
    idle, running, preparing = (size for _, size in stack)
    assert running == pytest.approx(2 * idle, rel=0.1)
    assert preparing == pytest.approx(idle, rel=0.1)
    assert await chart.evaluate(_COLUMN, 0.6) == []
    ((name, height),) = await chart.evaluate(_COLUMN, 0.95)
    assert name == "green"
    assert height == pytest.approx(2 * idle, rel=0.1)
    for state in ("idle (at most 2)", "running (at most 2)", "preparing (at most 1)"):
        await expect(page.get_by_text(state)).to_be_visible()


async def test_nodes_that_leave_are_drawn_above_the_others(reader: Reader) -> None:
    page, now = reader.page, int(time.time())
    points = [[at, 1, 1] for at in range(now - 600, now, 60)]
    history = {"states": ["idle", "leaving"], "points": points}
    cluster = {"name": "gpu", "engine": "batch", "state": "resizing", "nodes": 2, "history": history}
    await page.route("**/api/clusters?*", lambda route: route.fulfill(json={"clusters": [cluster]}))

    await reader.open("clusters")

    chart = page.get_by_role("figure", name="Nodes of gpu").locator("canvas")
    await expect(chart).to_be_visible()
    assert [name for name, _ in await chart.evaluate(_COLUMN, 0.5)] == ["green", "purple"]
    await expect(page.get_by_text("leaving (at most 1)")).to_be_visible()


async def test_the_chart_of_a_young_cluster_begins_with_its_first_count(reader: Reader) -> None:
    page, now = reader.page, int(time.time())
    history = {"states": ["idle"], "points": [[now - 240, 2], [now - 180, 2], [now - 120, 2]]}
    cluster = {"name": "gpu", "engine": "slurm", "state": "steady", "nodes": 2, "history": history}
    await page.route("**/api/clusters?*", lambda route: route.fulfill(json={"clusters": [cluster]}))

    await reader.open("clusters")

    chart = page.get_by_role("figure", name="Nodes of gpu").locator("canvas")
    await expect(chart).to_be_visible()
    for part in (0.1, 0.5, 0.95):
        assert [name for name, _ in await chart.evaluate(_COLUMN, part)] == ["green"]


async def test_an_operator_pauses_and_resumes(reader: Reader, door: Door) -> None:
    page = reader.page
    await reader.open("operate")
    await page.get_by_label("Reason for a pause").fill("maintenance")
    await page.get_by_role("button", name="Pause submissions").click()
    resume = page.get_by_role("button", name="Resume submissions")
    await expect(resume).to_be_visible(timeout=PATIENCE)
    assert (await door.call("GET", "health"))[1]["paused"] is True

    await resume.click()

    await expect(page.get_by_role("button", name="Pause submissions")).to_be_visible(timeout=PATIENCE)
    assert (await door.call("GET", "health"))[1]["paused"] is False


async def test_a_dead_message_is_shown_and_driven_again(reader: Reader) -> None:
    page, driven = reader.page, []
    one = {"id": "d1", "kind": "message", "since": "2026-11-20T10:00:00Z", "reason": "<b>unreadable</b>"}

    async def drive(route: Route) -> None:
        driven.append(route.request.method)
        await route.fulfill(status=202, json={"id": "d1", "kind": "message"})

    await page.route("**/api/dead", lambda route: route.fulfill(json={"dead": [] if driven else [one]}))
    await page.route("**/api/dead/d1/redrive", drive)
    await reader.open("operate")
    await expect(page.get_by_text("<b>unreadable</b>")).to_be_visible()

    await page.get_by_role("button", name="Redrive d1").click()

    await expect(page.get_by_text("<b>unreadable</b>")).to_have_count(0)
    assert driven == ["POST"]


async def test_the_trail_shows_who_did_what_and_goes_on_with_older_acts(reader: Reader) -> None:
    page, queries = reader.page, []
    act = {
        "at": AT,
        "by": "<b>ann</b>",
        "roles": [],
        "operation": "cancel_job",
        "subject": "j_1",
        "status": 202,
    }
    older = {**act, "operation": "post_sweep", "subject": "", "result": "/api/sweeps/s_9", "team": "vision"}

    async def answer(route: Route) -> None:
        queries.append(route.request.url.partition("?")[2])
        is_first = "after" not in queries[-1]
        body = {"acts": [act], "unreadable": 1, "next": "n"}
        if not is_first:
            body = {"acts": [older], "unreadable": 2, "next": None}
        await route.fulfill(json=body)

    await answer_everything(page)
    await page.route("**/api/trail?*", answer)
    await reader.open("operate")
    await page.get_by_label("Caller").fill(" ann ")
    await page.get_by_role("button", name="Show the newest acts").click()
    rows = page.get_by_role("table", name="Requests that changed something").get_by_role("row")
    await expect(rows.nth(1)).to_contain_text("<b>ann</b>cancel_jobj_1202")
    notice = page.get_by_role("region", name="Who did what").get_by_role("status")
    await expect(notice.filter(has_text="1 damaged line of the trail was passed over.")).to_be_visible()
    await expect(rows.nth(1).get_by_role("link")).to_have_attribute("href", "#/jobs/j_1")
    await page.get_by_label("Caller").fill("bob")
    await page.get_by_role("button", name="Older acts").click()

    await expect(rows.nth(2)).to_contain_text("post_sweeps_9vision202")
    await expect(notice.filter(has_text="3 damaged lines of the trail were passed over.")).to_be_visible()
    await expect(page.get_by_role("button", name="Older acts")).to_have_count(0)
    assert queries == ["by=ann", "by=ann&after=n"]
    assert await reader.violations() == []


async def test_who_uses_a_cluster_is_told_apart_by_team(reader: Reader) -> None:
    page, jobs = reader.page, [listed(1, owner="ann", team="vision"), listed(2, owner="ann", team="speech")]
    going = [{**job, "state": "running", "nodes": 2} for job in jobs]
    await answer_everything(page)
    await page.route("**/api/jobs?*", lambda route: route.fulfill(json={"jobs": going, "next": None}))
    await reader.open("clusters")

    rows = page.get_by_role("table", name="Who uses gpu").get_by_role("row")
    await expect(rows).to_have_count(3)
    await expect(rows.nth(1).get_by_role("link", name="vision")).to_have_attribute(
        "href", "#/jobs?team=vision"
    )
    await expect(rows.nth(2).get_by_role("link", name="speech")).to_be_visible()


async def test_names_of_64_letters_leave_the_numbers_of_who_uses_a_cluster_in_view(reader: Reader) -> None:
    page, long = reader.page, "speech-conformer-large-960h-with-an-experiment-of-64-letters-v12"
    one = listed(1, state="running", nodes=7, owner=f"{long}@x", team=long, experiment=long, name=long)
    await answer_everything(page)
    await page.route("**/api/jobs?*", lambda route: route.fulfill(json={"jobs": [one], "next": None}))
    for width in (1440, 1024):
        await page.set_viewport_size({"width": width, "height": 900})
        await reader.open("clusters")

        cells = page.get_by_role("table", name="Who uses gpu").get_by_role("row").nth(1).get_by_role("cell")
        await expect(cells.nth(2)).to_have_text(long)
        for cell in (cells.nth(3), cells.nth(4)):
            box = await cell.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= width
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_a_cluster_of_kubernetes_shows_its_facts_and_why_its_jobs_wait(reader: Reader) -> None:
    page = reader.page
    facts = {"mounted": [], "maxNodes": 4, "gpus": 8, "nodeMemory": 921_600, "maxWallClock": None}
    able = {"containers": {"answer": "yes", "note": ""}, "preparation": {"answer": "no", "note": "no step"}}
    counts = {"idle": 1, "running": 2, "leaving": 0}
    cluster = {"name": "gpu", "engine": "kubernetes", "state": "steady", "nodes": 3, "counts": counts}
    cluster |= {"maximum": None, "size": "nvidia.com/gpu", "facts": facts, "capabilities": able}
    why = "no node has room: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu"
    job = listed(1, state="queued", waiting={"word": "Unschedulable", "text": why, "since": AT})
    await page.route("**/api/clusters?*", lambda route: route.fulfill(json={"clusters": [cluster]}))
    await page.route("**/api/jobs?*", lambda route: route.fulfill(json={"jobs": [job], "next": None}))
    await reader.open("clusters")

    await expect(
        page.get_by_text("kubernetes, reachable, steady: 3 of at most any number of")
    ).to_be_visible()
    await expect(page.get_by_text("(1 idle, 2 running), nvidia.com/gpu")).to_be_visible()
    await expect(page.get_by_role("list", name="Jobs on gpu")).to_contain_text(why)
    await page.get_by_text("What jobs can count on there").click()
    for fact in ("8", "900 GiB", "4", "not known", "nothing", "yes", "no no step"):
        await expect(page.get_by_role("definition").filter(has_text=re.compile(f"^{fact} ?$"))).to_have_count(
            1
        )
    assert await reader.violations() == []


@pytest.mark.parametrize(("state", "words"), [("open", "until"), ("half-open", "the next event shows")])
async def test_a_receiver_shows_the_state_of_its_breaker(reader: Reader, state: str, words: str) -> None:
    times = {"since": "2026-11-20T10:00:00Z", "until": "2026-11-20T10:01:00Z"}
    counts = {"pending": 3, "dead": 0, "deadEvents": []}
    one = {"url": "https://hooks.example.com/…", "state": "failing", "last": "5xx", **counts}
    one["breaker"] = {"state": state, **times}
    await reader.page.route("**/api/receivers", lambda route: route.fulfill(json={"receivers": [one]}))

    await reader.open("operate")

    row = reader.page.get_by_role("list", name="Receivers").get_by_role("listitem")
    await expect(row).to_contain_text(f"breaker {state} since")
    await expect(row).to_contain_text(words)
    await expect(row).to_contain_text("last try: 5xx; 3 events are on the way, no event was given up")


async def test_the_audit_is_made_when_the_reader_asks(reader: Reader) -> None:
    await reader.open("operate")
    await expect(reader.page.get_by_text("Loading…")).to_have_count(0)  # what loads above moves the button
    await reader.page.get_by_role("button", name=re.compile("Compare")).click()

    await expect(reader.page.get_by_text("differences.")).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize("view", ["clusters", "usage", "operate", "new"])
async def test_every_view_is_accessible_and_fits_a_telephone(reader: Reader, view: str) -> None:
    page: Page = reader.page
    await page.set_viewport_size({"width": 360, "height": 800})
    await answer_everything(page)
    await reader.open(view)
    await expect(page.get_by_role("heading", level=1)).not_to_have_text("Jobs")
    await expect(page.get_by_text("Loading…")).to_have_count(0)

    assert await reader.violations() == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_a_part_of_the_health_that_is_not_answered_is_left_out(reader: Reader) -> None:
    page = reader.page
    words = {"storage": "ok", "clusters": {"ok": 12, "does not answer": 1}, "paused": False}
    await page.route("**/api/health", lambda route: route.fulfill(json=words))

    await reader.open("operate")

    health = page.get_by_role("region", name="Health")
    await expect(health.get_by_role("term")).to_have_text(["storage", "clusters", "submissions"])
    await expect(health.get_by_role("definition")).to_have_text(["ok", "12 ok, 1 does not answer", "go on"])
