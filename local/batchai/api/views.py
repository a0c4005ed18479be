"""Resources as the service showed them: defaults filled in, secrets left out, nulls omitted. Pure."""

import hashlib
import json
from datetime import datetime
from typing import Any

from local.batchai.api.bodies import TOOLKITS
from local.batchai.launch.layout import segment
from local.batchai.launch.toolkits import TYPES, block_of
from local.batchai.state import ids
from local.batchai.state.models import Cluster, Experiment, FileServer, Job, Node, Resource, Workspace
from local.batchai.state.moment import stamp
from local.nodes.fault import Fault

_SECRET = frozenset({"accountKey", "password", "adminUserPassword", "instrumentationKey"})
#: Blocks whose processCount the service fills in.
_COUNTED = frozenset(name for name, shape in TOOLKITS.items() if "processCount" in shape.fields)
_IMAGE = {"publisher": "Canonical", "offer": "UbuntuServer", "sku": "16.04-LTS", "version": "latest"}


def workspace_view(workspace: Workspace) -> dict[str, Any]:
    """A workspace on the wire."""
    view = _resource(workspace, _provisioning(workspace, workspace.created))
    view["location"] = workspace.location
    if workspace.tags:
        view["tags"] = workspace.tags
    return view


def experiment_view(experiment: Experiment) -> dict[str, Any]:
    """An experiment on the wire."""
    return _resource(experiment, _provisioning(experiment, experiment.created))


def cluster_view(cluster: Cluster) -> dict[str, Any]:
    """A cluster on the wire."""
    document = redacted(cluster.document)
    _fill_modes(document.get("nodeSetup", {}))
    setup = document.get("nodeSetup", {}).get("setupTask")
    if setup is not None:
        setup["stdOutErrPathSuffix"] = cluster.suffix
    image = document.pop("virtualMachineConfiguration", {}).get("imageReference", _IMAGE)
    scale = document.pop("scaleSettings", None) or cluster.scale
    if "manual" in scale:
        scale = {"manual": {"nodeDeallocationOption": "requeue"} | scale["manual"]}
    else:
        scale = {"autoScale": {"initialNodeCount": 0} | scale["autoScale"]}
    return _resource(
        cluster,
        document
        | {
            "vmSize": document["vmSize"].upper(),
            "vmPriority": document.get("vmPriority", "dedicated"),
            "scaleSettings": scale,
            "virtualMachineConfiguration": {"imageReference": {"version": "latest"} | image},
            "allocationState": cluster.allocation,
            "allocationStateTransitionTime": stamp(cluster.allocation_since),
            "currentNodeCount": len(cluster.nodes),
            "nodeStateCounts": _counts(cluster.nodes),
        }
        | _provisioning(cluster, cluster.created)
        | _errors(cluster.errors),
    )


def file_server_view(server: FileServer) -> dict[str, Any]:
    """A file server on the wire."""
    document = redacted(server.document)
    document["dataDisks"] = {"cachingType": "none"} | document["dataDisks"]
    document.setdefault("subnet", {"id": _own_subnet(server)})
    mount = {
        "mountPoint": "/data",
        "fileServerPublicIP": "127.0.0.1",
        "fileServerInternalIP": "127.0.0.1",
    }
    return _resource(server, document | {"mountSettings": mount} | _provisioning(server, server.created))


def job_view(job: Job) -> dict[str, Any]:
    """A job on the wire."""
    document = redacted(job.document)
    _fill_modes(document)
    block = block_of(document)
    if block in _COUNTED:
        document[block] = {"processCount": job.node_count} | document[block]
    constraints = document.get("constraints", {})
    properties = document | {
        "experimentName": ids.name(ids.parent(job.id)),
        "toolType": TYPES[block],
        "schedulingPriority": job.priority,
        "jobOutputDirectoryPathSegment": segment(job),
        "constraints": {"maxWallClockTime": "P7D"} | constraints,
        "executionState": job.state,
        "executionStateTransitionTime": stamp(job.since),
    }
    info: dict[str, Any] = {}
    if job.started:  # not if it was terminated in the queue
        info["startTime"] = stamp(job.started)
    if job.ended:
        info["endTime"] = stamp(job.ended)
    if job.exit_code is not None:
        info["exitCode"] = job.exit_code
    if info:
        properties["executionInfo"] = info | _errors(job.errors)
    return _resource(job, properties | _provisioning(job, job.created))


def _fill_modes(holder: dict[str, Any]) -> None:
    """The modes that shares are mounted with unless the request said otherwise."""
    for share in holder.get("mountVolumes", {}).get("azureFileShares", ()):
        share.setdefault("fileMode", "0777")
        share.setdefault("directoryMode", "0777")


def _own_subnet(server: FileServer) -> str:
    """The subnet that the service made for a file server that was given none."""
    subscription, network = ids.names_in(server.id)[0], f"virtualNetworks/{server.instance}vnet"
    group = f"/subscriptions/{subscription}/resourceGroups/fileserverrg-{server.instance}"
    return f"{group}/providers/Microsoft.Network/{network}/subnets/Subnet-1"


def redacted(value: Any) -> Any:
    """A copy without the values of secrets; their addresses in a key vault are not secret."""
    if isinstance(value, list):
        return [redacted(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    return {
        name: [_without_value(secret) for secret in entry] if name == "secrets" else redacted(entry)
        for name, entry in value.items()
        if name not in _SECRET
    }


def _without_value(secret: dict[str, Any]) -> dict[str, Any]:
    return {name: entry for name, entry in secret.items() if name != "value"}


def etag(view: dict[str, Any]) -> str:
    """The ETag of a resource in that state."""
    return f'"0x8D{hashlib.sha256(json.dumps(view).encode()).hexdigest()[:13].upper()}"'


def _resource(resource: Resource, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": resource.id,
        "name": ids.name(resource.id),
        "type": ids.resource_type(resource.id),
        "properties": properties,
    }


def _provisioning(resource: Resource, since: datetime) -> dict[str, Any]:
    return {
        "creationTime": stamp(resource.created),
        "provisioningState": "deleting" if resource.deleting else "succeeded",
        "provisioningStateTransitionTime": stamp(since),
    }


def _counts(nodes: tuple[Node, ...]) -> dict[str, int]:
    shown: list[str] = ["preparing" if node.state == "allocating" else node.state for node in nodes]
    kinds = ("idle", "running", "preparing", "unusable", "leaving")
    return {f"{kind}NodeCount": shown.count(kind) for kind in kinds}


def _errors(faults: tuple[Fault, ...]) -> dict[str, Any]:
    if not faults:
        return {}
    return {"errors": [_fault(fault) for fault in faults]}


def _fault(fault: Fault) -> dict[str, Any]:
    shown: dict[str, Any] = {"code": fault.code, "message": fault.message}
    if fault.details:
        shown["details"] = [{"name": name, "value": value} for name, value in fault.details.items()]
    return shown
