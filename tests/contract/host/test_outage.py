"""Storage that is away: the host ends itself, as in Azure, and the next one serves when it is back."""

import signal
from pathlib import Path

import pytest

from tests.chaos.storage import MortalStorage
from tests.contract.host.world import ANY_RUNTIME, Storage, environment_of, eventually, running, storage_of

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_host_whose_storage_is_away_ends_and_the_next_one_takes_the_messages(tmp_path: Path) -> None:
    mortal = MortalStorage(tmp_path / "azurite", preload=())
    async with mortal.running() as account, storage_of(account) as storage:
        env = environment_of(storage, LOCAL_HOST_OUTAGE_SECONDS="1", AzureFunctionsWebHost__hostid="outage")
        async with running(ANY_RUNTIME, storage, environment=env) as host:
            account.process.signal(signal.SIGKILL)
            await host.process.line(r"the host ends: queue \S+ refuses for 1 s")
            await host.process.line(r"the next host cannot start, and is tried again")
            await mortal.kill()

            async def serves() -> bool:
                return sum(line == f"ready {host.url}" for line in host.process.recent) == 2

            await eventually(serves, lambda: f"the next host in {host.process.recent}")
            await storage.send("work", '{"do":"afterwards"}')
            assert await storage.take("done", lambda t: "afterwards" in t)


@pytest.mark.thorough
async def test_the_timer_of_a_killed_host_is_taken_over_when_its_lease_is_over(storage: Storage) -> None:
    """Azure's lease lasts a minute; this one the least that storage takes."""
    short = {"LOCAL_HOST_TIMER_LEASE_SECONDS": "15", "LOCAL_HOST_TIMER_RETRY_SECONDS": "1"}
    env = environment_of(storage, TICK="* * * * * *", AzureFunctionsWebHost__hostid="killed", **short)

    async with running(ANY_RUNTIME, storage, environment=env) as host:
        await storage.take("ticks", lambda t: t.startswith("tick"))
        async with running(ANY_RUNTIME, storage, environment=env) as second:
            await second.process.line(r"timer tick waits for its lock")
            host.process.signal(signal.SIGKILL)
            await host.process.wait()
            await second.process.line(r"function tick started")
