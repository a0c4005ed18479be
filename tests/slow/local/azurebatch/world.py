"""The emulator of Azure Batch as a process of its own, and Microsoft's client for it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from azure.batch import BatchClient, models
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import HttpResponseError

from local.azurebatch.settings import ACCOUNT, KEY

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[4]
_QUICK = ("--provisioning-seconds=0.2", "--leaving-seconds=0.1", "--preempted-seconds=0.3")
_PATIENCE = 120.0
IMAGE = {"publisher": "microsoft-dsvm", "offer": "ubuntu-hpc", "sku": "2404", "version": "latest"}


@dataclass
class Emulator:
    """One that runs, at an address, and the client of its account."""

    data: Path
    url: str
    process: subprocess.Popen[str]

    def client(self, **options: Any) -> BatchClient:
        """Microsoft's client, unchanged, over the account's key."""
        return BatchClient(self.url, AzureNamedKeyCredential(ACCOUNT, KEY), **options)

    def stop(self) -> None:
        """End it as an orderly stop does."""
        if self.process.stdin:
            self.process.stdin.close()
        try:
            self.process.wait(_PATIENCE)
        finally:
            self.process.kill()
            if self.process.stdout:
                self.process.stdout.close()

    def kill(self) -> None:
        """End it as a crash does: what it started goes on."""
        self.process.kill()
        self.stop()


def begin(data: Path, *options: str, env: Mapping[str, str] | None = None) -> Emulator:
    """Start it over a directory, which an earlier one may have used. `env`: further variables."""
    command = [sys.executable, "-m", "local.azurebatch", f"--data={data}", "--until-stdin-closes"]
    process = subprocess.Popen(
        [*command, *_QUICK, *options],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **(env or {})},
        text=True,
    )
    assert process.stdout is not None
    word, _, url = process.stdout.readline().strip().partition(" ")
    assert word == "ready", "the emulator did not start"
    return Emulator(data, url, process)


@contextmanager
def emulator(data: Path, *options: str, env: Mapping[str, str] | None = None) -> Iterator[Emulator]:
    """It runs as long as the block does."""
    running = begin(data, *options, env=env)
    try:
        yield running
    finally:
        running.stop()


def new_pool(name: str, **more: Any) -> models.BatchPoolCreateOptions:
    """A pool as the engine makes one: tasks run on the host."""
    return models.BatchPoolCreateOptions(
        id=name,
        vm_size="Standard_NC4as_T4_v3",
        virtual_machine_configuration=models.VirtualMachineConfiguration(
            image_reference=models.BatchVmImageReference(**IMAGE),
            node_agent_sku_id="batch.node.ubuntu 24.04",
        ),
        **more,
    )


def new_job(name: str, pool: str, **more: Any) -> models.BatchJobCreateOptions:
    """A job on a pool."""
    return models.BatchJobCreateOptions(id=name, pool_info=models.BatchPoolInfo(pool_id=pool), **more)


def new_task(name: str, command: str, **more: Any) -> models.BatchTaskCreateOptions:
    """A task that has a shell do something."""
    return models.BatchTaskCreateOptions(id=name, command_line=f"/bin/bash -c {command!r}", **more)


def until(check: Callable[[], T | None]) -> T:
    """What a look finds, once it finds something."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if value := check():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def ended(client: BatchClient, job: str, task: str) -> models.BatchTask:
    """A task, when it is over."""

    def check() -> models.BatchTask | None:
        value = client.get_task(job, task)
        return value if value.state == models.BatchTaskState.COMPLETED else None

    return until(check)


def text_of(client: BatchClient, job: str, task: str, file: str = "stdout.txt", **more: Any) -> str:
    """What is in a file of a task."""
    return b"".join(client.download_task_file(job, task, file, **more)).decode()


def code_of(error: HttpResponseError) -> str:
    """The word for programs of a refusal."""
    return str(getattr(error.model, "code", ""))
