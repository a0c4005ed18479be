"""Azurite as a child process: answers, keeps or forgets, refuses with a remedy."""

import os
import socket
from pathlib import Path

import pytest

from local.azurite import AzuriteError, azurite
from tests.contract.host.world import storage_of


async def test_it_answers_and_is_gone_afterwards() -> None:
    async with azurite() as account, storage_of(account) as storage:
        await storage.send("one", "text")
        await storage.upload("two", "name", "text")
        assert await storage.peek("one") == ["text"]
        os.kill(account.pid, 0)

    with pytest.raises(ProcessLookupError):
        os.kill(account.pid, 0)


@pytest.mark.thorough
async def test_two_run_side_by_side_with_data_of_their_own() -> None:
    async with azurite() as first, azurite() as second, storage_of(first) as one, storage_of(second) as other:
        await one.send("shared", "of the first")

        assert await other.peek("shared") == []
        assert await one.peek("shared") == ["of the first"]


async def test_on_disk_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    async with azurite(folder) as account, storage_of(account) as storage:
        await storage.upload("kept", "name", "text")

    async with azurite(folder) as account, storage_of(account) as storage:
        assert await storage.read("kept", "name") == "text"


async def test_a_busy_port_is_named() -> None:
    with socket.socket() as times:
        times.bind(("127.0.0.1", 0))
        times.listen()
        port = times.getsockname()[1]

        with pytest.raises(AzuriteError, match=rf"127\.0\.0\.1:{port}: in use"):
            async with azurite(ports=(0, port, 0)):
                raise AssertionError("it started")


async def test_a_missing_package_is_reported_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPWAY_NODE_MODULES", str(tmp_path))

    with pytest.raises(AzuriteError, match="npm ci"):
        async with azurite():
            raise AssertionError("it started")


@pytest.mark.parametrize("script", ["exit 127", "echo v16.20.0", "echo nothing"])
async def test_a_node_that_is_old_or_does_not_run_is_reported_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    node = tmp_path / "node"
    node.write_text(f"#!/bin/sh\n{script}\n")
    node.chmod(0o755)
    monkeypatch.setenv("SLIPWAY_NODE", str(node))

    with pytest.raises(AzuriteError, match="node 18"):
        async with azurite():
            raise AssertionError("it started")
