"""What goes wrong outside of a job: a node that is taken away, a receiver that takes nothing for a while."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from playwright.async_api import expect

from tests.acceptance.door import Door, shell, unique
from tests.browser.reader import PATIENCE, Reader

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
    states = page.get_by_role("region", name="Timeline").get_by_role("listitem")
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
    delivery = page.get_by_role("article")
    await expect(delivery.locator(".delivery-dead").first).to_be_visible(timeout=PATIENCE)
    await expect(delivery.get_by_text("503 in")).to_have_count(3)
    await reader.open("operate")
    receivers, dead = (page.get_by_role("list", name=one) for one in ("Receivers", "Dead letters"))
    await expect(receivers.get_by_text("did not take some events")).to_be_visible()
    await expect(dead.get_by_role("link", name="its job")).to_be_visible()

    await page.get_by_role("button", name="Send 1 again").click()

    await expect(receivers.get_by_role("listitem")).to_have_count(0, timeout=PATIENCE)
    await reader.open(f"jobs/{job['id']}/deliveries")
    await expect(delivery.get_by_text("204 in")).to_be_visible(timeout=PATIENCE)
    tries = await door.event(hook, "io.slipway.job.succeeded.v1")
    assert len(tries) == 4
    assert len({one["id"] for one in tries}) == 1
