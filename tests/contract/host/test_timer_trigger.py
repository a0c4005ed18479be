"""Timers: by hand, by schedule, retried, missed; the same through both runtimes."""

import json

import pytest

from tests.contract.host.world import Host, Storage, environment_of, eventually, running

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_timer_fires_by_hand(host: Host) -> None:
    assert await host.fire("tick") == 202

    assert await host.storage.take("ticks", lambda t: t.startswith("tick")) == ["tick past_due=False"]


async def test_a_retry_policy_repeats_a_timer_function(host: Host) -> None:
    assert await host.fire("stubborn") == 202

    assert await host.storage.take("ticks", lambda t: "stubborn" in t) == ["stubborn after 2 retries"]


async def test_a_timer_fires_again_and_again_by_its_schedule(runtime: str, storage: Storage) -> None:
    env = environment_of(storage, TICK="* * * * * *", AzureFunctionsWebHost__hostid="each-second")

    async with running(runtime, storage, environment=env):
        assert await storage.take("ticks", lambda t: "past_due=False" in t, count=2)


async def test_a_missed_occurrence_fires_at_the_start_as_past_due_and_the_status_is_kept(
    runtime: str, storage: Storage
) -> None:
    path = "timers/missed/Host.Functions.tick/status"
    last, past = "2001-01-01T00:00:00+00:00", "2002-01-01T00:00:00+00:00"
    await storage.upload(
        "azure-webjobs-hosts", path, json.dumps({"Last": last, "Next": past, "LastUpdated": last})
    )
    env = environment_of(storage, AzureFunctionsWebHost__hostid="missed")

    async with running(runtime, storage, environment=env):
        assert await storage.take("ticks", lambda t: "past_due=True" in t) == ["tick past_due=True"]

        async def is_there() -> bool:
            status = json.loads(await storage.read("azure-webjobs-hosts", path) or "{}")
            return str(status["Next"]) > past

        await eventually(is_there, lambda: "the status to hold the next occurrence")


async def test_two_hosts_share_one_timer(host: Host) -> None:
    async with running(host.runtime, host.storage) as second:
        await second.process.line(r"timer tick waits for its lock")
