"""provision: create what a deployment needs, on whatever the settings point at; what is there stays as it is.

Storage containers, queues and the ledger's table; a share for logs with a directory for scripts; the
workspace; a cluster that starts at no nodes and scales by itself, with the share and the data mounted.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from shared.engines.batchai_client import Workspace, connect
from shared.settings import Settings
from shared.storage.connection import Account, Connection
from shared.storage.ledger import TableLedger


@dataclass(frozen=True)
class Plan:
    """What to create. The defaults are those of the Batch AI workspace script."""

    location: str = "eastus"
    vm_size: str = "Standard_NC6"
    priority: str = "lowpriority"
    minimum: int = 0
    maximum: int = 1
    share: str = "logs"
    scripts: str = "scripts"
    data: str = "datalake"
    ssh_key: str = ""
    #: a cluster.json, instead of the description above
    cluster: dict[str, Any] | None = None


@dataclass(frozen=True)
class Step:
    """One thing that is there now."""

    kind: str
    name: str
    created: bool


async def provision(settings: Settings, plan: Plan) -> AsyncIterator[Step]:
    """Yield each step as it is done. Safe to repeat. Raises the SDKs' errors and Misconfigured."""
    string, blob, queue, table = settings.connection()
    account = Account(Connection(string, blob, queue, table, settings.text("AZURE_CLIENT_ID")))
    try:
        async for step in _storage(settings, plan, account):
            yield step
    finally:
        await account.close()
    if string:
        async for step in _share(string, plan):
            yield step
    async for step in _batchai(settings, plan):
        yield step


async def _storage(settings: Settings, plan: Plan, account: Account) -> AsyncIterator[Step]:
    from azure.core.exceptions import ResourceExistsError

    drops, answers = settings.text("SLIPWAY_DROP_CONTAINER"), settings.text("SLIPWAY_ANSWERS_CONTAINER")
    for name in dict.fromkeys((drops, answers, *settings.names("SLIPWAY_SPEC_CONTAINERS"), plan.data)):
        try:
            await account.blobs.create_container(name)
        except ResourceExistsError:
            yield Step("container", name, created=False)
        else:
            yield Step("container", name, created=True)
    notices = ["job-notices"] if settings.flag("SLIPWAY_NOTICES") else []
    for name in ("jobs", "job-events", *notices):
        # Creating a queue that exists with the same metadata is a success that says 204 instead of 201.
        there = name in [queue.name async for queue in account.queues.list_queues(name_starts_with=name)]
        if not there:
            await account.queues.create_queue(name)
        yield Step("queue", name, created=not there)
    name = settings.text("SLIPWAY_LEDGER_TABLE")
    there = name in [table.name async for table in account.tables.list_tables()]
    await TableLedger(account, name, settings.whole("SLIPWAY_SHARDS")).active(0)
    yield Step("table", name, created=not there)


async def _share(string: str, plan: Plan) -> AsyncIterator[Step]:
    from azure.core.exceptions import ResourceExistsError
    from azure.storage.fileshare.aio import ShareServiceClient

    async with ShareServiceClient.from_connection_string(string) as service:
        share = service.get_share_client(plan.share)
        for kind, name, create in (
            ("share", plan.share, share.create_share),
            (
                "directory",
                f"{plan.share}/{plan.scripts}",
                share.get_directory_client(plan.scripts).create_directory,
            ),
        ):
            try:
                await create()
            except ResourceExistsError:
                yield Step(kind, name, created=False)
            else:
                yield Step(kind, name, created=True)


async def _batchai(settings: Settings, plan: Plan) -> AsyncIterator[Step]:
    from azure.core.exceptions import ResourceNotFoundError

    group, workspace = settings.text("SLIPWAY_RESOURCE_GROUP"), settings.text("SLIPWAY_WORKSPACE")
    where = Workspace(
        url=settings.text("SLIPWAY_BATCHAI_URL"),
        subscription=settings.text("SLIPWAY_SUBSCRIPTION"),
        group=group,
        name=workspace,
        client_id=settings.text("AZURE_CLIENT_ID"),
    )
    cluster = settings.text("SLIPWAY_CLUSTER")
    client = connect(where)
    try:
        for kind, resources, names, body in (
            ("workspace", client.workspaces, (group, workspace), {"location": plan.location}),
            (
                "cluster",
                client.clusters,
                (group, workspace, cluster),
                plan.cluster or _cluster(settings, plan),
            ),
        ):
            try:
                await resources.get(*names)
            except ResourceNotFoundError:
                await (await resources.begin_create(*names, body, polling_interval=1)).result()
                yield Step(kind, names[-1], created=True)
            else:
                yield Step(kind, names[-1], created=False)
    finally:
        await client.close()


def _cluster(settings: Settings, plan: Plan) -> dict[str, Any]:
    """The cluster as a request body; its key for the mounts goes nowhere else."""
    account, key = settings.account()
    credentials = {"accountKey": key}
    user: dict[str, str] = {"adminUserName": "slipway"}
    if plan.ssh_key:
        user["adminUserSshPublicKey"] = plan.ssh_key
    else:
        user["adminUserPassword"] = secrets.token_urlsafe(24)  # required by the service, used by nobody
    mounts = {
        "azureFileShares": [
            {
                "accountName": account,
                "azureFileUrl": f"https://{account}.file.core.windows.net/{plan.share}",
                "credentials": credentials,
                "relativeMountPath": plan.share,
            }
        ],
        "azureBlobFileSystems": [
            {
                "accountName": account,
                "containerName": plan.data,
                "credentials": credentials,
                "relativeMountPath": plan.data,
            }
        ],
    }
    scale = {
        "minimumNodeCount": plan.minimum,
        "maximumNodeCount": plan.maximum,
        "initialNodeCount": plan.minimum,
    }
    return {
        "properties": {
            "vmSize": plan.vm_size,
            "vmPriority": plan.priority,
            "scaleSettings": {"autoScale": scale},
            "nodeSetup": {"mountVolumes": mounts},
            "userAccountSettings": user,
        }
    }
