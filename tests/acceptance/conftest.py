"""The whole stack, once per session: Azurite, emulator, receiver, and the real app on the local host."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from local.event_grid.topic import Delivery
from local.stack import Options, stack
from shared.settings import Settings
from slipway.stack.provision import Plan, provision
from tests.acceptance.az.az import Az, prepared
from tests.acceptance.door import Door
from tests.acceptance.hosts.another_host import COMMAND, stack_on
from tests.acceptance.prepared.server import Prepared

ROOT = Path(__file__).resolve().parents[2]
KEY = secrets.token_urlsafe(24)
Slipway = Callable[..., Awaitable[str]]


async def provisioned(settings: Mapping[str, str]) -> None:
    """A cluster of two nodes."""
    async for _ in provision(Settings(settings), Plan(maximum=2)):
        pass


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def door(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    options = Options(
        data=tmp_path_factory.mktemp("stack"),
        in_memory=True,
        # Every drop in these tests is reported twice, in any order.
        delivery=Delivery(copies=2, delay=0.5),
        overrides={
            "SLIPWAY_SWEEPER_SCHEDULE": "*/1 * * * * *",
            "SLIPWAY_INVENTORY_SECONDS": "0",
            "SLIPWAY_ADDRESS_MINUTES": "5",
            "SLIPWAY_MOUNTABLE": "datalake,logs,models",
            "LOCAL_HOST_FUNCTION_KEY": KEY,
            "LOCAL_HOST_MASTER_KEY": f"master-{KEY}",
        },
        cluster_arguments=(
            *("--provisioning-seconds=0", "--leaving-seconds=0", "--idle-seconds=2"),
            "--containers=host",  # no test waits for a registry
        ),
        host_arguments=("--enable-auth",),
    )
    command = os.environ.get(COMMAND)
    started = stack_on(options, provisioned, command) if command else stack(options, provisioned)
    async with started as running, Door(running, KEY) as opened:
        yield opened


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def az(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Az]:
    """A prepared person; `apt` and `pip` are stand-ins, so jobs' preparations do not change this machine."""
    data, folder, programs = (tmp_path_factory.mktemp(name) for name in ("up", "person", "programs"))
    for name in ("apt", "pip"):
        (programs / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
        (programs / name).chmod(0o755)
    async with prepared(data, folder, programs) as person:
        yield person


@pytest.fixture(scope="module")
def slipway() -> Iterator[Slipway]:
    """Run one command, which must succeed, and return its output."""
    prepared = Prepared()

    async def slipway(*arguments: str) -> str:
        ran = await asyncio.create_subprocess_exec(
            *(*prepared.command, *arguments),
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if not name.startswith("SLIPWAY_STORAGE")},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output = (await ran.communicate())[0].decode()
        assert ran.returncode == 0, output
        return output

    yield slipway
    prepared.close()
