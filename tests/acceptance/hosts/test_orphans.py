"""A killed host leaves its worker behind, which goes on beside the next host's: each job runs once."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil
import pytest

from local.process import child
from local.stack import Options, Stack, stack
from tests.acceptance.conftest import KEY, provisioned
from tests.acceptance.door import Door, eventually, shell, unique
from tests.acceptance.hosts.another_host import ROOT
from tests.acceptance.hosts.test_hidden_messages import SETTINGS, process_of, recorded

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: As Azure's is, for as long as the test lasts.
_ORPHAN = {"LOCAL_HOST_ORPHAN_SECONDS": "3600"}


@pytest.mark.thorough
async def test_a_worker_that_outlives_its_host_submits_no_second_copy(tmp_path: Path) -> None:
    name, runs = unique("orphan"), tmp_path / "runs.txt"
    options = Options(data=tmp_path / "stack", in_memory=True, overrides=SETTINGS | _ORPHAN)
    async with stack(options, provisioned) as running, Door(running, KEY) as door:
        cluster, host = process_of(door, "the emulator"), process_of(door, "the host")
        (orphan,) = psutil.Process(host.pid).children()
        cluster.signal(signal.SIGSTOP)
        try:
            await door.send({"name": name, "spec": shell(f"echo run >> {runs}"), "notify": [door.hook(name)]})
            await eventually(lambda: recorded(door, name), "the record")
            host.signal(signal.SIGKILL)
            await host.wait()
            async with _next_host(running):
                cluster.signal(signal.SIGCONT)
                job = await door.ended(name=name)
                await door.event(name, "io.slipway.job.succeeded.v1")
                assert orphan.is_running()
                assert (job["state"], job["attempt"]) == ("succeeded", 1)
                assert runs.read_text() == "run\n"
        finally:
            cluster.signal(signal.SIGCONT)
            with suppress(psutil.NoSuchProcess):
                orphan.kill()


@asynccontextmanager
async def _next_host(running: Stack) -> AsyncIterator[None]:
    """Another host for the same app, at the address of the one before."""
    settings, port = running.logs.parent / "local.settings.json", running.host_url.rpartition(":")[2]
    argv = [sys.executable, "-m", "local.host", "--until-stdin-closes", "--grace=5", f"--app={ROOT}"]
    async with child(
        [*argv, f"--settings={settings}", f"--port={port}"], name="the next host", cwd=ROOT
    ) as next_:
        await next_.line(r"^ready ")
        yield
