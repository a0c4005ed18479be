"""The emulator's memory when nothing can be written: nothing is half done, and it goes on later."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from local import conduct
from local.batchai.conductor import Conductor
from local.batchai.state.database import Store
from local.batchai.state.models import Cluster
from local.batchai.state.scheduler import Pace
from local.batchai.state.settings import Settings
from local.nodes.settings import Account
from local.record_file import StoreFullError

NOW = datetime(2026, 1, 1, tzinfo=UTC)
_READY = ["idle", "idle"]
PACE = Pace(provisioning=timedelta(0), idle=timedelta(hours=1), leaving=timedelta(0))


def cluster(nodes: int) -> Cluster:
    """A cluster that wants so many nodes."""
    return Cluster(
        id="/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w/clusters/c",
        sequence=1,
        created=NOW,
        document={"scaleSettings": {"manual": {"targetNodeCount": nodes}}, "vmSize": "Standard_NC6"},
        suffix="",
        allocation_since=NOW,
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    created = Store(tmp_path)
    yield created
    created.close()


def refuse(store: Store, refused: bool) -> None:
    """SQLite itself refuses to write from now on."""
    store._file._sql.execute(f"PRAGMA query_only={'ON' if refused else 'OFF'}")


def test_what_could_not_be_written_is_not_there_and_can_be_written_later(store: Store) -> None:
    refuse(store, True)
    for _ in range(2):  # a transaction that was left open would refuse the second for ever
        with pytest.raises(StoreFullError, match=r"state\.sqlite cannot be written: .*readonly"):
            store.save(cluster(0))
    assert list(store.clusters) == []

    refuse(store, False)
    store.save(cluster(0))

    (saved,) = store.clusters
    refuse(store, True)
    with pytest.raises(StoreFullError):
        store.forget(saved)
    assert list(store.clusters) == [saved]


async def test_the_conductor_outlives_it(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conduct, "AGAIN", 0.01)
    account = Account(name="a", key="k", blob_endpoint="http://127.0.0.1:1/a")
    settings = Settings(data=tmp_path, account=account, node_path=(tmp_path,), pace=PACE)
    conductor = Conductor(store, settings, lambda: NOW)
    store.save(cluster(2))
    tried: list[str] = []
    store._file._sql.set_trace_callback(tried.append)
    refuse(store, True)
    await conductor.start()
    while tried.count("ROLLBACK") < 3:  # noqa: ASYNC110 - SQLite sets no event of ours
        await asyncio.sleep(0.001)

    refuse(store, False)
    while [node.state for node in next(iter(store.clusters)).nodes] != _READY:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.001)
    await conductor.stop()
