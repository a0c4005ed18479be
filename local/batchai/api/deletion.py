"""DELETE of a resource and everything below it; running jobs are stopped first."""

from collections.abc import Iterator

from aiohttp import web

from local.batchai.api.operations import accepted
from local.batchai.api.wire import Call
from local.batchai.state import ids
from local.batchai.state.database import Store
from local.batchai.state.models import Experiment, Group, Job, Resource, Workspace


def delete(call: Call, resource: Resource | None) -> web.Response:
    """Begin to delete; 204 when there is nothing to delete."""
    if resource is None:
        return web.Response(status=204)
    marked = [one.evolve(deleting=True) for one in _family(call.store, resource) if not one.deleting]
    if marked:
        call.store.save(*marked)
    for one in marked:
        if isinstance(one, Job) and one.active:
            call.emulator.conductor.halt(one, "deleted")
    answer = accepted(call, "delete", resource)
    call.emulator.conductor.nudge()
    return answer


def _family(store: Store, resource: Resource) -> Iterator[Resource]:
    yield resource
    match resource:
        case Group():
            for workspace in store.workspaces.children(f"{resource.id}/providers/{ids.PROVIDER}"):
                yield from _family(store, workspace)
        case Workspace():
            yield from store.clusters.children(resource.id)
            yield from store.file_servers.children(resource.id)
            for experiment in store.experiments.children(resource.id):
                yield from _family(store, experiment)
        case Experiment():
            yield from store.jobs.children(resource.id)
        case _:
            return
