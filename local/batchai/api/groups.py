"""Resource groups and the storage account, as far as the commands around `az batchai` use them."""

from typing import Any

from aiohttp import web

from local.batchai.api.bodies import ACCOUNT_NAME, GROUP
from local.batchai.api.deletion import delete
from local.batchai.api.wire import Call
from local.batchai.state import ids
from local.batchai.state.errors import ArmError
from local.batchai.state.models import Group
from local.batchai.state.regions import check_region


async def put_group(call: Call) -> web.Response:
    """Create it, or change its tags."""
    body = await call.body(GROUP)
    check_region(body["location"], call.emulator.settings.location, "/location")
    existing = call.store.groups.get(_id(call))
    status = 200 if existing else 201
    group = existing or Group(
        id=_id(call),
        sequence=call.store.next_sequence(),
        created=call.emulator.clock(),
        location=body["location"],
    )
    group = group.evolve(tags=body.get("tags", {}))
    call.store.save(group)
    return web.json_response(_view(group), status=status)


async def get_group(call: Call) -> web.Response:
    """Answer with a resource group, or 404."""
    return web.json_response(_view(group_of(call)))


async def head_group(call: Call) -> web.Response:
    """204 if the resource group exists, else 404."""
    return web.Response(status=204 if call.store.groups.get(_id(call)) else 404)


async def delete_group(call: Call) -> web.Response:
    """Delete it with the workspaces in it."""
    return delete(call, group_of(call))


async def list_groups(call: Call) -> web.Response:
    """The groups of a subscription."""
    groups = call.store.groups.children(f"/subscriptions/{call.names['subscription']}")
    return web.json_response({"value": [_view(group) for group in groups]})


async def list_accounts(call: Call) -> web.Response:
    """The one storage account; it is in every subscription and group."""
    return web.json_response({"value": [_account(call)]})


async def show_account(call: Call) -> web.Response:
    """The one storage account, by its name; a request to create it succeeds."""
    if call.names["account"] != call.emulator.settings.account.name:
        own = call.emulator.settings.account.name
        message = f"The emulator has one storage account, {own}; it cannot create {call.names['account']}."
        raise ArmError(404, "ResourceNotFound", message, "account")
    return web.json_response(_account(call))


async def list_keys(call: Call) -> web.Response:
    """The key of the account."""
    await show_account(call)
    # Storage accounts have two; here both are the same.
    key = {"value": call.emulator.settings.account.key, "permissions": "FULL"}
    return web.json_response({"keys": [{"keyName": name} | key for name in ("key1", "key2")]})


async def check_name(call: Call) -> web.Response:
    """Whether an account of a name may be created: only the existing one."""
    body = await call.body(ACCOUNT_NAME)
    own = call.emulator.settings.account.name
    if body["name"] == own:
        return web.json_response({"nameAvailable": True})
    message = f"The emulator has one storage account, {own}."
    return web.json_response({"nameAvailable": False, "reason": "AlreadyExists", "message": message})


async def registration(call: Call) -> web.Response:
    """Every resource provider is registered."""
    name = call.names["provider"]
    body = {"id": f"/subscriptions/{call.names['subscription']}/providers/{name}", "namespace": name}
    return web.json_response(body | {"registrationState": "Registered", "resourceTypes": []})


def _id(call: Call) -> str:
    return f"/subscriptions/{call.names['subscription']}/resourceGroups/{call.names['group']}"


def group_of(call: Call) -> Group:
    """The group of the call. Raises ArmError."""
    group = call.store.groups.get(_id(call))
    if group is None:
        name = call.names["group"]
        raise ArmError(404, "ResourceGroupNotFound", f"Resource group '{name}' could not be found.")
    return group


def _view(group: Group) -> dict[str, Any]:
    return {
        "id": group.id,
        "name": ids.name(group.id),
        "type": "Microsoft.Resources/resourceGroups",
        "location": group.location,
        "tags": group.tags,
        "properties": {"provisioningState": "Deleting" if group.deleting else "Succeeded"},
    }


def _account(call: Call) -> dict[str, Any]:
    settings = call.emulator.settings
    name = settings.account.name
    group = f"/subscriptions/{call.names['subscription']}/resourceGroups/{call.names.get('group', 'storage')}"
    return {
        "id": f"{group}/providers/Microsoft.Storage/storageAccounts/{name}",
        "name": name,
        "type": "Microsoft.Storage/storageAccounts",
        "location": settings.location,
        "kind": "StorageV2",
        "sku": {"name": "Standard_LRS", "tier": "Standard"},
        "properties": {
            "provisioningState": "Succeeded",
            "primaryEndpoints": {
                "blob": f"{settings.account.blob_endpoint}/",
                "file": f"{call.base}/{name}/",
            },
        },
    }
