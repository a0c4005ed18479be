"""What goes wrong outside of a job: a lost node, a deaf receiver, a torn answer, a token that expires."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import aiohttp
import pytest
from playwright.async_api import Route, expect

from tests.acceptance.door import Door, shell, unique
from tests.browser.conftest import KEY
from tests.browser.reader import PATIENCE, Reader, answer_jobs, comes, hold, listed, sign_out

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_timeline_of_a_job_shows_that_its_node_was_taken_away_and_that_it_ran_again(
    reader: Reader, door: Door
) -> None:
    page, name = reader.page, unique("preempted")
    # The second start finds the mark that the first one left on the shared disk.
    mark = f"$AZ_BATCHAI_MOUNT_ROOT/logs/{name}"
    command = f'[ -e "{mark}" ] || {{ touch "{mark}"; sleep 600; }}; sleep 4'
    other = await _submit(door, shell("sleep 600"))
    job = await _submit(door, shell(command))
    await reader.open(f"jobs/{job}")
    heading = page.get_by_role("heading", level=1)
    await expect(heading).to_contain_text("running", timeout=PATIENCE)
    # Both nodes are taken, so that this one runs next, and the job waits for a while.
    await _submit(door, shell("sleep 5", schedulingPriority="high"))

    await _preempt(door, job)

    await expect(heading).to_contain_text("succeeded", timeout=PATIENCE)
    await door.call("POST", f"jobs/{other}/cancel")
    states = page.get_by_role("region", name="Events").get_by_role("listitem")
    await expect(states.filter(has_text="queued")).to_have_count(2)
    await expect(states.filter(has_text="running")).to_have_count(2)


async def _submit(door: Door, spec: dict[str, Any]) -> str:
    _, job, _ = await door.call("POST", "jobs", spec, Content_Type="application/json")
    return str(job["id"])


async def _preempt(door: Door, job: str) -> None:
    """Take away the node of a job that runs."""
    assert door.stack.cluster is not None
    base = door.stack.cluster.url
    name = (await door.call("GET", f"jobs/{job}"))[1]["engine"]["name"]
    async with aiohttp.ClientSession() as http:
        async with http.get(f"{base}/emulator/nodes") as answer:
            nodes = (await answer.json())["value"]
        (node,) = [one for one in nodes if name in str(one["job"])]
        async with http.post(f"{base}/emulator/nodes/{node['id']}/preempt") as answer:
            assert answer.status == 202, await answer.text()


async def test_an_event_that_its_receiver_never_took_is_sent_again_from_the_page(
    reader: Reader, door: Door
) -> None:
    page, name, hook = reader.page, unique("dead"), unique("late")
    # It refuses as often as the schedule of the stack tries, and takes the one after that.
    receiver = door.hook(hook, "?status=503&times=3")
    document = {"name": name, "spec": shell("true"), "notify": [receiver]}
    _, job, _ = await door.call("POST", "jobs", document, Content_Type="application/json")
    await reader.open(f"jobs/{job['id']}/deliveries")
    delivery = page.get_by_role("region", name="Events")
    await expect(delivery.locator(".delivery-dead").first).to_be_visible(timeout=PATIENCE)
    await expect(delivery.get_by_text("503 in")).to_have_count(3)
    await reader.open("operate")
    receivers, dead = (page.get_by_role("list", name=one) for one in ("Receivers", "Dead letters"))
    await expect(receivers.get_by_text("did not accept some events")).to_be_visible()
    await expect(dead.get_by_role("link", name="its job")).to_be_visible()

    await page.get_by_role("button", name="Send 1 again").click()

    await expect(receivers.get_by_role("listitem")).to_have_count(0, timeout=PATIENCE)
    await reader.open(f"jobs/{job['id']}/deliveries")
    await expect(delivery.get_by_text("204 in")).to_be_visible(timeout=PATIENCE)
    tries = await door.event(hook, "io.slipway.job.succeeded.v1")
    assert len(tries) == 4
    assert len({one["id"] for one in tries}) == 1


async def test_an_answer_that_breaks_off_or_is_no_json_is_an_outage_that_ends(reader: Reader) -> None:
    page = reader.page

    async def torn(request: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(torn, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    await page.clock.install()
    await answer_jobs(page, lambda _: {"jobs": [listed(1)], "next": None})
    await page.reload()
    await expect(page.get_by_text("train-000001")).to_be_visible()
    async with server:
        await page.route("**/api/jobs?*", lambda route: route.continue_(url=f"http://127.0.0.1:{port}/"))
        await comes(page.get_by_role("alert").filter(has_text="does not answer"))
    await page.route("**/api/jobs?*", lambda route: route.fulfill(body="<html>Sign in to the hotel</html>"))
    await comes(page.get_by_role("alert").filter(has_text="The answer is not JSON"))
    await expect(page.get_by_text("train-000001")).to_be_visible()

    await answer_jobs(page, lambda _: {"jobs": [listed(2)], "next": None})

    await comes(page.get_by_text("train-000002"))
    await expect(page.get_by_role("alert")).to_have_count(0)


async def test_a_deployment_that_hangs_is_noticed_before_it_counts_as_an_outage(reader: Reader) -> None:
    page = reader.page
    await page.clock.install()
    await answer_jobs(page, lambda _: {"jobs": [listed(1)], "next": None})
    await page.reload()
    await expect(page.get_by_text("train-000001")).to_be_visible()
    held = await hold(page, "**/api/jobs?*")
    await page.clock.run_for(16_000)
    await page.clock.run_for(10_000)

    alert = page.get_by_role("alert")
    await expect(alert).to_contain_text("No complete answer has come since")
    await expect(alert).to_contain_text("The page goes on waiting.")
    await expect(alert.get_by_role("time")).to_have_attribute("title", re.compile("UTC"))
    await expect(page.get_by_text("train-000001")).to_be_visible()
    (call,) = held
    await call.fulfill(json={"jobs": [listed(2)], "next": None})

    await expect(page.get_by_text("train-000002")).to_be_visible()
    await expect(alert).to_have_count(0)


async def test_who_comes_while_a_deployment_hangs_is_told_so(reader: Reader) -> None:
    page = reader.page
    await page.clock.install()
    held = await hold(page, "**/api/me")
    await page.reload()
    await expect(page.get_by_text("Loading…")).to_be_visible()
    await page.clock.run_for(11_000)
    await expect(page.get_by_text("There has been no answer since")).to_be_visible()

    await held[0].continue_()

    await expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()


async def test_who_has_to_sign_in_again_finds_what_they_wrote(reader: Reader) -> None:
    page = reader.page

    async def refuse(route: Route) -> None:
        await route.fulfill(status=401, json={"detail": "the token has expired"})

    await reader.open("new")
    text = page.get_by_label("job.json")
    await text.fill('{"properties": {"nodeCount": 2}}')
    await expect(page.get_by_text("This document cannot run.")).to_be_visible()
    await page.route(lambda url: "/api/" in url and "/api/ui/" not in url, refuse)
    await page.get_by_role("button", name="Explain").click()
    await expect(page.get_by_text("The deployment refused the last one.")).to_be_visible()
    await page.unroute_all()
    await page.get_by_label("Function key").fill(KEY)
    await page.get_by_role("button", name="Sign in").click()

    await expect(text).to_contain_text('"nodeCount": 2')
    await expect(page.get_by_text("This is what you wrote here before.")).to_be_visible()
    await sign_out(page)
    assert await page.evaluate("sessionStorage.length") == 0


@pytest.mark.parametrize("steps", ["..", "%2e%2e/log", "./files", "x/files/%2E%2E/%2E%2E/me"])
async def test_a_link_leads_no_call_out_of_its_path(reader: Reader, steps: str) -> None:
    page, calls = reader.page, list[str]()
    page.on("request", lambda request: calls.append(request.url))

    await reader.open(f"jobs/{steps}")

    await expect(page.get_by_role("heading", name="There is no such view")).to_be_visible()
    lists = "/api/jobs?limit="  # of the view before
    assert [url for url in calls if "/api/ui/" not in url and lists not in url] == []
