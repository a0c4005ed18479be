"""One shared host for each runtime, and an account for tests that start hosts of their own."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from local.azurite import azurite
from tests.breadth import one_each
from tests.contract.host.world import ANY_RUNTIME, Host, Storage, missing_for, running, storage_of


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise at collection, not at import, when the breadth of the run is known."""
    if "runtime" in metafunc.fixturenames:
        runtimes = one_each((ANY_RUNTIME, "library"), lambda _: "a runtime")
        metafunc.parametrize("runtime", runtimes, indirect=True, scope="package")


@pytest.fixture(scope="package")
def runtime(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if (reason := missing_for(name)) is not None:
        pytest.skip(reason)
    return name


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def storage() -> AsyncIterator[Storage]:
    """For hosts that a test starts; its cases run in sequence."""
    async with azurite() as account, storage_of(account) as account_storage:
        yield account_storage


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def host(runtime: str) -> AsyncIterator[Host]:
    """The shared host, with its own storage; cases are told apart by the texts of their messages."""
    async with (
        azurite() as account,
        storage_of(account) as account_storage,
        running(runtime, account_storage) as shared,
    ):
        yield shared
