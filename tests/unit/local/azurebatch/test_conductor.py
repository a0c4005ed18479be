"""One pool that cannot be worked on delays no other."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from pathlib import Path

import pytest

from local.azurebatch.run.conductor import Conductor
from local.azurebatch.settings import Settings
from local.azurebatch.state.database import Store
from local.azurebatch.state.models import Autoscale
from local.nodes.settings import Account
from tests.unit.local.azurebatch.test_schedule import pool


async def test_an_error_of_one_pool_delays_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(tmp_path)
    broken = pool(autoscale=Autoscale(formula="x=1;", interval="of another version"), id="a")
    store.save(broken, pool(dedicated=1, allocation="resizing", id="b"))
    settings = Settings(data=tmp_path, account=Account(name="a", key="k", blob_endpoint=""))
    conductor = Conductor(store, settings, lambda: datetime.now(UTC))

    with caplog.at_level(logging.ERROR):
        await conductor.start()
        async with asyncio.timeout(60):
            while not store.pools["b"].nodes:  # noqa: ASYNC110 - the store tells no one
                await asyncio.sleep(0.01)
        await conductor.stop()

    assert "a defect of the emulator" in caplog.text
    assert store.pools["a"].nodes == ()
    store.close()
