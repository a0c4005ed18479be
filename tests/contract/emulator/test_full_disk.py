"""A disk without room: the emulator says so, loses nothing, and goes on when there is room again.

Its data lies in a file system of 8 MiB, in a mount namespace of its own.
"""

import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from azure.storage.blob.aio import BlobServiceClient

from local.azurite import Azurite
from tests.contract.emulator.conftest import Emulator, Lab, autoscale, custom, until
from tests.contract.emulator.recorder import Recorder

_MOUNT = ["unshare", "--map-root-user", "--mount"]


def can_mount() -> bool:
    if not shutil.which("unshare"):
        return False
    mount = [*_MOUNT, "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(mount, capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(
    not can_mount(), reason="no file system can be mounted here (unshare --mount)"
)


class Small(Emulator):
    """An emulator on a small file system, which the test fills and empties."""

    @property
    def program(self) -> tuple[str, ...]:
        mount = 'mount -t tmpfs -o size=8m none "$0" && exec "$@"'
        return (*_MOUNT, "sh", "-c", mount, str(self.data), sys.executable)

    @property
    def _filling(self) -> Path:
        assert self.process is not None
        return Path(f"/proc/{self.process.pid}/root{self.data}/filling")

    def fill(self) -> None:
        with self._filling.open("wb", buffering=0) as out:
            for size in (1 << 16, 1 << 10, 1):
                try:
                    while out.write(b"x" * size):
                        pass
                except OSError:
                    continue

    def make_room(self) -> None:
        self._filling.unlink()


@pytest_asyncio.fixture(loop_scope="session")
async def lab(
    tmp_path: Path, storage: Azurite, blobs: BlobServiceClient, recorder: Recorder
) -> AsyncIterator[Lab]:
    data = tmp_path / "batchai"
    data.mkdir()
    running = Small(data, storage, recorder)
    await running.start()
    yield Lab(running, "dev")
    await running.stop()


async def test_jobs_that_run_and_wait_while_the_disk_is_full_end_when_there_is_room(
    lab: Lab, tmp_path: Path
) -> None:
    small = lab.emulator
    assert isinstance(small, Small)
    await lab.make_cluster(autoscale(1))  # so that the second job waits, and does not start just then
    started, go = tmp_path / "started", tmp_path / "go"
    wait = f"touch {started}; while [ ! -e {go} ]; do sleep 0.05; done; exit 3"
    await lab.submit("running", **custom(wait))

    async def has_started() -> bool:
        return started.exists()

    await until(has_started)
    await lab.submit("coming", **custom("true"))
    small.fill()
    go.touch()
    status, body, headers = await lab.send("PUT", f"{lab.path}x", json={"location": "eastus"})
    for _ in range(3):
        await lab.send("PUT", f"{lab.path}y", json={"location": "eastus"})
    result, _, _ = await lab.send("GET", lab.path)
    small.make_room()

    assert (status, body["error"]["code"]) == (503, "InsufficientStorage")
    assert "make room" in body["error"]["message"]
    assert "Retry-After" in headers
    assert result == 200
    ended = await lab.ends("running")
    assert (ended.execution_state, ended.execution_info.exit_code) == ("failed", 3)
    assert (await lab.ends("coming")).execution_state == "succeeded"
    assert (await lab.send("PUT", f"{lab.path}x", json={"location": "eastus"}))[0] < 300
    assert small.process is not None
    output = [line for line in small.process.recent if "state.sqlite" in line]
    assert [("disk is full" in line, "can be written again" in line) for line in output] == [
        (True, False),
        (False, True),
    ]


async def test_it_can_be_stopped_while_the_disk_is_full(lab: Lab) -> None:
    small = lab.emulator
    assert isinstance(small, Small)
    await lab.make_cluster(autoscale(1))
    await lab.submit("running", **custom("sleep 600"))
    await lab.reaches("running", "running")
    small.fill()
    process = small.process
    assert process is not None

    await small.stop()

    assert process.returncode == 0, process.recent
