"""Creates the resources that the settings name and that do not exist yet.

Storage containers, queues and the ledger's table; then the cluster, with what its engine needs for it. If the
engine creates no clusters, the cluster exists already, and only storage is made.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

from shared.adapters.storage.queues import StorageQueues
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.resttable import RestTable
from shared.configured import ConfiguredEngines
from shared.core.errors import Misconfigured
from shared.engines.provisioning import Plan, Step
from shared.settings import Settings
from slipway.client.storage.trouble import reaching
from slipway.failure import Failure

__all__ = ["QUEUES", "Plan", "Step", "provision"]

#: The queues of every deployment; the host makes those of poison messages itself, with the first one.
QUEUES = ("jobs", "jobs-poison", "job-events", "job-events-poison", "webjobs-blobtrigger-poison")


async def provision(settings: Settings, plan: Plan) -> AsyncIterator[Step]:
    """Yield each step as it is done. Safe to repeat. Raises Failure."""
    with reaching("the storage account", "SLIPWAY_STORAGE"):
        string, blob, queue, table = settings.connection()
        account = Account(Connection(string, blob, queue, table, settings.text("AZURE_CLIENT_ID")))
        try:
            async for step in _storage(settings, plan, account):
                yield step
        finally:
            await account.close()
    async for step in provision_clusters(settings, plan):
        yield step


async def provision_clusters(settings: Settings, plan: Plan) -> AsyncIterator[Step]:
    """The default cluster by the plan, and the others that need none. Raises Failure for the former."""
    engines = ConfiguredEngines(settings)
    async for step in _cluster(engines, engines.default, plan):
        yield step
    for name in engines.unplanned:
        try:
            async for step in _cluster(engines, name, plan):
                yield replace(step, name=f"{step.name} of {name}")
        except Failure as error:  # the others can be used
            yield Step("cluster", name, created=False, note=f"not made: {error}")


async def _cluster(engines: ConfiguredEngines, name: str, plan: Plan) -> AsyncIterator[Step]:
    """What one cluster needs. Raises Failure."""
    make = engines.provision_of(name)
    if make is None:
        yield Step("cluster", name, created=False)
        return
    try:
        for stage in make(name, plan):
            with reaching(stage.service, stage.setting):
                async for step in stage.steps:
                    yield step
    except Misconfigured as error:
        raise Failure(str(error)) from error


async def _storage(settings: Settings, plan: Plan, account: Account) -> AsyncIterator[Step]:
    from azure.core.exceptions import ResourceExistsError

    drops, receipts = settings.text("SLIPWAY_DROP_CONTAINER"), settings.text("SLIPWAY_RECEIPTS_CONTAINER")
    for name in dict.fromkeys((drops, receipts, *settings.names("SLIPWAY_SPEC_CONTAINERS"), plan.data)):
        try:
            await account.blobs.create_container(name)
        except ResourceExistsError:
            yield Step("container", name, created=False)
        else:
            yield Step("container", name, created=True)
    notices = ["job-notices"] if settings.flag("SLIPWAY_NOTICES") else []
    for name in (*QUEUES, *notices):
        yield Step("queue", name, created=await StorageQueues(account).make(name))
    table = RestTable(account, settings.text("SLIPWAY_LEDGER_TABLE"))
    created = await table.make()
    await ShardedTable(table, settings.whole("SLIPWAY_SHARDS")).open()
    yield Step("table", table.name, created=created)
