"""Operations on workspaces and experiments."""

from aiohttp import web

from local.batchai.api.bodies import WORKSPACE, WORKSPACE_PATCH
from local.batchai.api.deletion import delete
from local.batchai.api.existing import MOST_WORKSPACES, check_quota
from local.batchai.api.views import experiment_view, workspace_view
from local.batchai.api.wire import Call, one
from local.batchai.state import ids
from local.batchai.state.errors import ArmError, invalid, not_found
from local.batchai.state.models import Experiment, Workspace
from local.batchai.state.regions import check_region, region


def workspace_of(call: Call) -> Workspace:
    """The workspace of the call. Raises ArmError if it does not exist or is being deleted."""
    workspace = call.store.workspaces.get(ids.workspace(call.names))
    if workspace is None:
        raise not_found("workspace", call.names["workspace"])
    return workspace


def experiment_of(call: Call) -> Experiment:
    """The experiment of the call. Raises ArmError."""
    workspace_of(call)
    experiment = call.store.experiments.get(ids.experiment(call.names))
    if experiment is None:
        raise not_found("experiment", call.names["experiment"])
    return experiment


def refuse_while_deleting(resource: Workspace | Experiment) -> None:
    """Raise ArmError while the group or workspace is being deleted, and accepts no new resource."""
    if resource.deleting:
        kind = type(resource).__name__.lower()
        raise ArmError(409, "ResourceBeingDeleted", f"The {kind} {ids.name(resource.id)} is being deleted.")


async def put_workspace(call: Call) -> web.Response:
    """Create it, or change the tags of an existing one."""
    body = await call.body(WORKSPACE)
    check_region(body["location"], call.emulator.settings.location, "/location")
    existing = call.store.workspaces.get(ids.workspace(call.names))
    if existing is None:
        others = call.store.workspaces.children(ids.group(call.names))
        check_quota(len(others), MOST_WORKSPACES, "workspaces in a resource group")
        workspace = Workspace(
            id=ids.workspace(call.names),
            sequence=call.store.next_sequence(),
            created=call.emulator.clock(),
            location=body["location"],
            tags=body.get("tags", {}),
        )
    else:
        refuse_while_deleting(existing)
        if region(existing.location) != region(body["location"]):
            raise ArmError(
                409,
                "InvalidResourceLocation",
                f"The workspace is in {existing.location} and cannot be moved; delete it first.",
                "/location",
            )
        workspace = existing.evolve(tags=body.get("tags", {}))
    call.store.save(workspace)
    return _response(workspace)


async def patch_workspace(call: Call) -> web.Response:
    """Change the tags; nothing else of a workspace can be changed."""
    workspace = workspace_of(call)
    body = await call.body(WORKSPACE_PATCH)
    if "tags" in body:
        workspace = workspace.evolve(tags=body["tags"])
        call.store.save(workspace)
    return _response(workspace)


async def get_workspace(call: Call) -> web.Response:
    """Answer with a workspace, or 404."""
    return _response(workspace_of(call))


async def delete_workspace(call: Call) -> web.Response:
    """Delete it with everything in it."""
    return delete(call, call.store.workspaces.get(ids.workspace(call.names)))


async def list_workspaces(call: Call) -> web.Response:
    """The workspaces of a resource group."""
    return call.page(workspace_view, call.store.workspaces.children(ids.group(call.names)))


async def list_all_workspaces(call: Call) -> web.Response:
    """The workspaces of a subscription."""
    subscription = call.names["subscription"].lower()
    own = [item for item in call.store.workspaces if ids.names_in(item.id)[0].lower() == subscription]
    return call.page(workspace_view, own)


async def put_experiment(call: Call) -> web.Response:
    """Create it; an existing one stays as it is."""
    refuse_while_deleting(workspace_of(call))
    if await call.request.read() not in (b"", b"{}"):
        raise invalid("The properties of an experiment cannot be set.", "", "InvalidRequestContent")
    experiment = call.store.experiments.get(ids.experiment(call.names))
    if experiment is None:
        experiment = Experiment(
            id=ids.experiment(call.names),
            sequence=call.store.next_sequence(),
            created=call.emulator.clock(),
        )
        call.store.save(experiment)
    refuse_while_deleting(experiment)
    return _experiment_shown(experiment)


async def get_experiment(call: Call) -> web.Response:
    """Answer with an experiment, or 404."""
    return _experiment_shown(experiment_of(call))


async def delete_experiment(call: Call) -> web.Response:
    """Delete it with its jobs, not with the clusters that they use."""
    return delete(call, call.store.experiments.get(ids.experiment(call.names)))


async def list_experiments(call: Call) -> web.Response:
    """The experiments of a workspace."""
    return call.page(experiment_view, call.store.experiments.children(workspace_of(call).id))


def _response(workspace: Workspace) -> web.Response:
    return one(workspace_view(workspace), workspace.created)


def _experiment_shown(experiment: Experiment) -> web.Response:
    return one(experiment_view(experiment), experiment.created)
