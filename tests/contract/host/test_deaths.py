"""Workers that die again and again: Azure's host ends itself, and the platform starts the next one."""

import pytest

from tests.contract.host.world import ANY_RUNTIME, Storage, environment_of, eventually, running

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_at_the_third_death_of_its_worker_the_host_ends_and_the_next_one_serves(
    storage: Storage,
) -> None:
    env = environment_of(storage, AzureFunctionsWebHost__hostid="dying")

    async with running(ANY_RUNTIME, storage, arguments=["--grace", "0"], environment=env) as host:
        await storage.send("work", '{"do":"crash","n":3}')
        await storage.take("work-poison", lambda t: "crash" in t)  # after two tries
        await storage.send("work", '{"do":"crash","n":4}')
        await host.process.line(r"worker 1 is not restarted, and the host ends")

        async def serves() -> bool:
            return sum(line == f"ready {host.url}" for line in host.process.recent) == 2

        await eventually(serves, lambda: f"the next host in {host.process.recent}")
        assert await host.status("GET", "/api/items/5") == 200
        assert await storage.peek("work") == []
        work = storage.queues.get_queue_client("work")
        properties = await work.get_queue_properties()
        assert properties.approximate_message_count == 1  # hidden for ten minutes since it was taken
        await work.clear_messages()
