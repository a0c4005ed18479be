"""Creates the missing resources of a Batch AI cluster.

A share for logs with a directory for scripts; the resource group, the workspace, and a cluster that starts at
no nodes and scales by itself, with the share and the data mounted.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

from shared.core.errors import Misconfigured
from shared.engines.batchai.client import Workspace, address, connect
from shared.engines.entry import Values
from shared.engines.provisioning import Plan, Stage, Step

#: The share that the workspace script uses.
_SIZE = "Standard_NC6"
#: The file service accepts an account key; without one, the share has to be made through the management API.
_AZURITE = "devstoreaccount1"
#: The API version of Microsoft.Resources, to which resource groups belong.
_GROUPS_VERSION = "2021-04-01"
_BY_HAND = "not created: SLIPWAY_STORAGE names no key; create it with `az storage share-rm create`"


def provision(where: Workspace, settings: Values, cluster: str, plan: Plan) -> Iterator[Stage]:
    """Create the share, then the resources. Raises Misconfigured if the service no longer exists."""
    if where.trouble:
        raise Misconfigured(where.trouble)
    yield Stage("the file service", "FileEndpoint in SLIPWAY_STORAGE", _files(settings, plan))
    resources = _resources(where, settings, cluster, plan)
    yield Stage(f"the Batch AI API at {where.url}", "SLIPWAY_BATCHAI_URL", resources)


async def _files(settings: Values, plan: Plan) -> AsyncIterator[Step]:
    if not (string := settings.connection()[0]):
        yield Step("share", plan.share, created=False, note=_BY_HAND)
        return
    async for step in _share(_with_file_service(settings, string), plan):
        yield step


async def _share(string: str, plan: Plan) -> AsyncIterator[Step]:
    from azure.core.exceptions import ResourceExistsError
    from azure.storage.fileshare.aio import ShareServiceClient

    from shared.connections.transport import Transport

    # By default it waits more than a minute for a service that does not exist.
    client = ShareServiceClient.from_connection_string(
        string, transport=Transport(connection_timeout=5), retry_total=2, initial_backoff=1
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


def _with_file_service(settings: Values, string: str) -> str:
    """The connection string.

    Azurite has no file service, so for its account the emulator serves the shares.
    """
    emulator, account = settings.text("SLIPWAY_BATCHAI_URL").rstrip("/"), settings.account()[0]
    if "FileEndpoint=" in string or account != _AZURITE or urlsplit(emulator).scheme != "http":
        return string
    return f"{string.rstrip(';')};FileEndpoint={emulator}/{account};"


async def _resources(where: Workspace, settings: Values, cluster: str, plan: Plan) -> AsyncIterator[Step]:
    from azure.core.exceptions import ResourceNotFoundError

    group, workspace = where.group, where.name
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

    path = f"/subscriptions/{{subscriptionId}}/resourcegroups/{name}"
    url = address(path, {"api-version": _GROUPS_VERSION})
    answer = await client._send_request(HttpRequest("GET", url), stream=False)
    if answer.status_code == 404:
        body = {"location": location}
        answer = await client._send_request(HttpRequest("PUT", url, json=body), stream=False)
    if answer.status_code >= 300:
        raise HttpResponseError(response=answer)
    return bool(answer.status_code == 201)


def _cluster(settings: Values, plan: Plan) -> dict[str, Any]:
    """The cluster as a request body; the account key for its mounts is used nowhere else."""
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
            "vmSize": plan.vm_size or _SIZE,
            "vmPriority": plan.priority,
            "scaleSettings": {"autoScale": scale},
            "nodeSetup": {"mountVolumes": mounts},
            "userAccountSettings": _administrator(plan),
        }
    }


def _described(plan: Plan) -> dict[str, Any]:
    """The cluster that a file describes, with an administrator of its nodes if the file names none."""
    properties: dict[str, Any] = (plan.cluster or {})["properties"]
    return {"properties": {"userAccountSettings": _administrator(plan)} | properties}


def _administrator(plan: Plan) -> dict[str, str]:
    user = {"adminUserName": "slipway"}
    if plan.ssh_key:
        return user | {"adminUserSshPublicKey": plan.ssh_key}
    return user | {"adminUserPassword": secrets.token_urlsafe(24)}  # required by the service, not used
