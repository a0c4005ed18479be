"""One Entra tenant, and one deployment that requires its tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.acceptance.door import Door
from tests.acceptance.entra.guarded import guarded_stack
from tests.contract.entra_tenant import Tenant, open_tenant


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def tenant() -> AsyncIterator[Tenant]:
    async with open_tenant() as tenant:
        yield tenant


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def guarded(tenant: Tenant, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    """The stack, which requires the tenant's tokens and the host's key."""
    async with guarded_stack(tenant, tmp_path_factory.mktemp("guarded"), "function-key") as opened:
        yield opened
