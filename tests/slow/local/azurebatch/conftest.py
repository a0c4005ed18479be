from __future__ import annotations

from collections.abc import Iterator

import pytest
from azure.batch import BatchClient

from tests.slow.local.azurebatch.world import Emulator, emulator


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """One emulator for the tests of a module, each with its own pools and jobs."""
    with emulator(tmp_path_factory.mktemp("batch"), "--autoscale-seconds=0.3") as one:
        yield one


@pytest.fixture
def client(running: Emulator) -> Iterator[BatchClient]:
    with running.client() as one:
        yield one
