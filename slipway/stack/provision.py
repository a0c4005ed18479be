"""provision: create the resources that the settings name and that do not exist yet.

Storage containers, queues and the ledger's table; a share for logs with a directory for scripts; the
resource group, the workspace, and a cluster that starts at no nodes and scales by itself, with the share
and the data mounted.
A Slurm cluster is there already: for it only storage is made.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from shared.adapters.storage.queues import StorageQueues
from shared.adapters.storage.store import Store
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.resttable import RestTable
from shared.configured import ConfiguredEngines
from shared.engines.batchai.client import connect
from shared.engines.batchai.configure import workspace_of
from shared.settings import Settings
from slipway.client.trouble import reaching
from slipway.failure import Failure

#: The file service takes an account key; without one the share is made through the management API.
_AZURITE = "devstoreaccount1"
#: Of Microsoft.Resources, which resource groups belong to.
_GROUPS_VERSION = "2021-04-01"
_BY_HAND = "not made here: SLIPWAY_STORAGE names no key; make it with `az storage share-rm create`"


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
    #: Why it was not created, where that is left to a person.
    note: str = ""


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
    cluster = ConfiguredEngines(settings).clusters[settings.cluster()]
    if (make := _PROVISIONERS.get(cluster.engine)) is None:
        yield Step("cluster", cluster.name, created=False)
        return
    async for step in make(settings, plan):
        yield step


async def _workspace_and_cluster(settings: Settings, plan: Plan) -> AsyncIterator[Step]:
    """What a Batch AI cluster needs."""
    if trouble := workspace_of(settings).trouble:
        raise Failure(trouble)
    if string := settings.connection()[0]:
        with reaching("the file service", "FileEndpoint in SLIPWAY_STORAGE"):
            async for step in _share(_with_file_service(settings, string), plan):
                yield step
    else:
        yield Step("share", plan.share, created=False, note=_BY_HAND)
    url = settings.text("SLIPWAY_BATCHAI_URL")
    with reaching(f"the Batch AI API at {url}", "SLIPWAY_BATCHAI_URL"):
        async for step in _batchai(settings, plan):
            yield step


#: Of engines whose clusters are made here; those of others are there already.
_PROVISIONERS = {"batchai": _workspace_and_cluster}


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
        yield Step("queue", name, created=await StorageQueues(account).make(name))
    table = RestTable(account, settings.text("SLIPWAY_LEDGER_TABLE"))
    made = await table.make()
    await Store(table, settings.whole("SLIPWAY_SHARDS")).open()
    yield Step("table", table.name, created=made)


async def _share(string: str, plan: Plan) -> AsyncIterator[Step]:
    from azure.core.exceptions import ResourceExistsError
    from azure.storage.fileshare.aio import ShareServiceClient

    # Its default is to wait a minute and more for a service that is not there.
    client = ShareServiceClient.from_connection_string(
        string, retry_total=2, initial_backoff=1, connection_timeout=5
    )
    async with client as service:
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


def _with_file_service(settings: Settings, string: str) -> str:
    """The connection string; Azurite has no file service, so its account's shares are the emulator's."""
    emulator, account = settings.text("SLIPWAY_BATCHAI_URL").rstrip("/"), settings.account()[0]
    if "FileEndpoint=" in string or account != _AZURITE or urlsplit(emulator).scheme != "http":
        return string
    return f"{string.rstrip(';')};FileEndpoint={emulator}/{account};"


async def _batchai(settings: Settings, plan: Plan) -> AsyncIterator[Step]:
    from azure.core.exceptions import ResourceNotFoundError

    where = workspace_of(settings)
    group, workspace = where.group, where.name
    cluster = settings.cluster()
    client = connect(where)
    try:
        yield Step("group", group, created=await _group(client, group, plan.location))
        for kind, resources, names, body in (
            ("workspace", client.workspaces, (group, workspace), {"location": plan.location}),
            (
                "cluster",
                client.clusters,
                (group, workspace, cluster),
                _described(plan) if plan.cluster else _cluster(settings, plan),
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


async def _group(client: Any, name: str, location: str) -> bool:
    """Whether the resource group was not there and has been made. Raises HttpResponseError."""
    from azure.core.exceptions import HttpResponseError
    from azure.core.rest import HttpRequest

    address = f"/subscriptions/{{subscriptionId}}/resourcegroups/{name}"
    query = {"api-version": _GROUPS_VERSION}
    found = await client._send_request(HttpRequest("GET", address, params=query), stream=False)
    if found.status_code == 404:
        body = {"location": location}
        found = await client._send_request(HttpRequest("PUT", address, params=query, json=body), stream=False)
    if found.status_code >= 300:
        raise HttpResponseError(response=found)
    return bool(found.status_code == 201)


def _cluster(settings: Settings, plan: Plan) -> dict[str, Any]:
    """The cluster as a request body; its key for the mounts goes nowhere else."""
    account, key = settings.account()
    credentials = {"accountKey": key}
    mounts = {
        "azureFileShares": [
            {
                "accountName": account,
                "azureFileUrl": f"https://{account}.file.{settings.storage_suffix()}/{plan.share}",
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
            "userAccountSettings": _administrator(plan),
        }
    }


def _described(plan: Plan) -> dict[str, Any]:
    """The cluster of a file; the administrator of its nodes, if it names none."""
    properties: dict[str, Any] = (plan.cluster or {})["properties"]
    return {"properties": {"userAccountSettings": _administrator(plan)} | properties}


def _administrator(plan: Plan) -> dict[str, str]:
    user = {"adminUserName": "slipway"}
    if plan.ssh_key:
        return user | {"adminUserSshPublicKey": plan.ssh_key}
    return user | {"adminUserPassword": secrets.token_urlsafe(24)}  # required by the service, not used
