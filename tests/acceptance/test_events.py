"""Events from outside: what became of them, the same once more, a test of an address."""

from __future__ import annotations

import pytest

from tests.acceptance.door import Door, eventually, shell, unique

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_event_is_shown_with_its_tries_and_goes_out_again(door: Door) -> None:
    name = unique("again")
    hook = door.hook(name, "?status=503&times=1")
    await door.call("POST", "jobs", {"name": name, "spec": shell("true"), "notify": [hook]})
    job = await door.ended(name=name)
    (first, second) = await door.event(name, "io.slipway.job.succeeded.v1", 2)

    async def delivered() -> dict[str, object] | None:
        _, body, _ = await door.call("GET", f"jobs/{job['id']}/events")
        (event,) = body["events"]
        return event if event["state"] == "delivered" else None

    event = await eventually(delivered, "the event to be delivered")
    status, body, _ = await door.call("POST", f"events/{first['id']}/redeliver")

    assert (status, body["events"]) == (202, [event["id"]])
    (*_, third) = await door.event(name, "io.slipway.job.succeeded.v1", 3)
    assert {one["id"] for one in (first, second, third)} == {event["id"]}


async def test_an_address_is_tested_and_one_that_says_410_is_disabled(door: Door) -> None:
    name = unique("gone")
    hook = door.hook(name, "?status=410&times=1")
    await door.call("POST", "jobs", {"name": name, "spec": shell("exit 1"), "notify": [hook]})
    await door.ended(name=name)

    async def disabled() -> bool:
        _, body, _ = await door.call("GET", "receivers/disabled")
        return bool(body["receivers"])

    await eventually(disabled, "the address to be disabled")
    address = {"url": hook["url"].partition("?")[0]}
    _, answer, _ = await door.call("POST", "receivers/test", address)

    assert (answer["outcome"], answer["status"]) == ("delivered", 204)
    assert (await door.call("POST", "receivers/test", {"url": "https://10.0.0.1/"}))[0] == 400
    assert (await door.call("POST", "events/evt_none/redeliver"))[0] == 404
