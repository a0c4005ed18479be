"""A cluster for each test, which may change its nodes, quotas and queues."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.contract.kubernetes.on_kubernetes import Running, running


@pytest_asyncio.fixture
async def where(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path) as cluster:
        yield cluster
