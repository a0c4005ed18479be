"""What a worker has of its host, and how long it outlives one that is killed."""

import json
import signal
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.contract.host.world import ANY_RUNTIME, APP, Host, Storage, environment_of, eventually, running

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize(
    ("seconds", "survives"), [pytest.param("3600", True, id="as-azure"), pytest.param("0", False, id="set")]
)
async def test_the_worker_of_a_killed_host_ends_what_it_does_and_outlives_it(
    storage: Storage, tmp_path: Path, seconds: str, *, survives: bool
) -> None:
    mark, more = tmp_path / "mark", {"LOCAL_HOST_ORPHAN_SECONDS": seconds}
    env = environment_of(storage, AzureFunctionsWebHost__hostid=f"orphan-{seconds}", **more)
    async with running(ANY_RUNTIME, storage, environment=env) as host:
        (worker,) = psutil.Process(host.process.pid).children()
        try:
            await storage.send("work", json.dumps({"do": "mark", "seconds": 0.5, "file": str(mark)}))
            await host.process.line("working on mark")
            host.process.signal(signal.SIGKILL)

            async def is_over() -> bool:
                return mark.exists() if survives else not worker.is_running()

            await eventually(is_over, lambda: f"the end of the function, or of {worker}")
            assert mark.exists() == worker.is_running() == survives
        finally:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
            await storage.queues.get_queue_client("work").clear_messages()


@pytest.mark.parametrize(
    ("name", "value"),
    [("PYTHON_THREADPOOL_THREAD_COUNT", "1000"), ("FUNCTIONS_APPLICATION_DIRECTORY", str(APP))],
)
async def test_a_worker_has_the_variables_of_azures(host: Host, name: str, value: str) -> None:
    async with host.http.get(f"{host.url}/api/settings/{name}") as response:
        assert await response.text() == value


async def test_lines_of_the_libraries_of_azure_are_shown_unless_the_app_sets_their_level(host: Host) -> None:
    await host.storage.send("work", '{"do":"sdk"}')

    await host.process.line("INFO azure.core: a request of the library")
    await host.storage.take("done", lambda t: "sdk" in t)
