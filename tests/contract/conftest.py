"""A real Azurite for the contract suites, one in memory per session, and an account of ports over it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from local.azurite import Azurite, azurite


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def storage() -> AsyncIterator[Azurite]:
    async with azurite() as running:
        yield running
