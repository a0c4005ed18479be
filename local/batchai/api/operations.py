"""Long-running operations: an answer 202 with two addresses to poll, and the answers of these."""

import uuid
from datetime import datetime, timedelta

from aiohttp import web

from local.batchai.api.wire import API_VERSION, Call
from local.batchai.state import ids
from local.batchai.state.database import Store
from local.batchai.state.errors import ArmError
from local.batchai.state.models import Group, Job, Operation, Resource, Workspace
from local.batchai.state.moment import stamp
from local.batchai.state.regions import region

#: Seconds that a client should wait before it asks again; 0 would make the SDK wait 30.
_RETRY_AFTER = "1"
_KEEP = timedelta(days=1)


def accepted(call: Call, verb: str, subject: Resource) -> web.Response:
    """The empty answer 202 to a request whose work continues, with both headers of the service."""
    operation = Operation.model_validate(
        {
            "name": str(uuid.uuid4()),
            "verb": verb,
            "subject": subject.id,
            "location": _location(call, subject),
            "started": call.emulator.clock(),
        }
    )
    call.store.save(operation)
    subscription = ids.names_in(subject.id)[0]
    base = f"{call.base}/subscriptions/{subscription}/providers/{ids.PROVIDER}/locations/{operation.location}"
    query = f"api-version={API_VERSION}"
    return web.Response(
        status=202,
        headers={
            "Azure-AsyncOperation": f"{base}/operationresults/{operation.name}?{query}",
            "Location": f"{base}/operationstatuses/{operation.name}?{query}",
            "Retry-After": _RETRY_AFTER,
        },
    )


async def status(call: Call) -> web.Response:
    """GET of Azure-AsyncOperation: the state of the operation."""
    operation = _looked_at(call)
    body = {
        "id": f"{call.base}{call.request.path}",
        "name": operation.name,
        "status": "Succeeded" if operation.ended else "InProgress",
        "startTime": stamp(operation.started),
    }
    if operation.ended is None:
        return web.json_response(body, headers={"Retry-After": _RETRY_AFTER})
    body["endTime"] = stamp(operation.ended)
    resource = "$".join(ids.names_in(operation.subject))
    return web.json_response(body | {"properties": {"resourceId": resource}})


async def result(call: Call) -> web.Response:
    """GET of Location: 202 until the operation is over."""
    if _looked_at(call).ended:
        return web.Response(status=200)
    return web.Response(
        status=202, headers={"Location": f"{call.base}{call.request.rel_url}", "Retry-After": _RETRY_AFTER}
    )


def prune(store: Store, now: datetime) -> None:
    """Forget operations that are too old to be polled."""
    for operation in [one for one in store.operations.values() if one.started < now - _KEEP]:
        store.forget_operation(operation)


def _looked_at(call: Call) -> Operation:
    """The operation of the call, with its end if it has ended, which is final. Raises ArmError."""
    name = call.names["operation"]
    operation = call.store.operations.get(name)
    if operation is None:
        raise ArmError(404, "OperationNotFound", f"The specified operation {name} is not found", "operation")
    if operation.ended is None and _is_over(call.store, operation):
        operation = operation.evolve(ended=call.emulator.clock())
        call.store.save(operation)
    return operation


def _location(call: Call, subject: Resource) -> str:
    """Where the subject is: the region of its workspace, or its own."""
    holder = subject
    while not isinstance(holder, Workspace | Group):
        parent = ids.parent(holder.id)
        # An operation is deleted with the resource that contains it.
        holder = call.store.experiments.get(parent) or call.store.workspaces[parent]
    return region(holder.location)


def _is_over(store: Store, operation: Operation) -> bool:
    subject = _subject(store, operation.subject)
    if operation.verb == "create" or subject is None:
        return True
    if operation.verb == "terminate":
        return isinstance(subject, Job) and not subject.active
    # A resource that was created since under the same name is another one.
    return not subject.deleting


def _subject(store: Store, resource_id: str) -> Resource | None:
    below = (store.jobs, store.clusters, store.experiments, store.file_servers)
    shelves = (*below, store.workspaces, store.groups)
    return next((resource for shelf in shelves if (resource := shelf.get(resource_id))), None)
