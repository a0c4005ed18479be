"""One shared host for each runtime, and an account for tests that start hosts of their own."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from local.azurite import azurite
from tests.contract.host.world import Host, Storage, missing_for, running, storage_of


@pytest.fixture(scope="package", params=["library", "sdk"])
def runtime(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if (reason := missing_for(name)) is not None:
        pytest.skip(reason)
    return name


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def storage() -> AsyncIterator[Storage]:
    """For hosts that a test starts; its cases run one after the other."""
    async with azurite() as account, storage_of(account) as account_storage:
        yield account_storage


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def host(runtime: str) -> AsyncIterator[Host]:
    """The shared host, with storage of its own; cases keep apart by what their messages say."""
    async with (
        azurite() as account,
        storage_of(account) as account_storage,
        running(runtime, account_storage) as shared,
    ):
        yield shared
