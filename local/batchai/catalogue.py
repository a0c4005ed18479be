"""What the provider can do, and how much of it a subscription uses in a region."""

from aiohttp import web

from local.batchai import ids
from local.batchai.existing import MOST_CLUSTERS, clusters_in
from local.batchai.sizes import size_of
from local.batchai.wire import Call

#: More than any emulated cluster can take.
_CORES = 2**31 - 1

_READ_WRITE_DELETE = {"read": "Gets or lists", "write": "Creates or updates", "delete": "Deletes"}
_RESOURCES = {
    "workspaces": "a workspace",
    "workspaces/clusters": "a cluster",
    "workspaces/experiments": "an experiment",
    "workspaces/experiments/jobs": "a job",
    "workspaces/fileServers": "a file server",
}
_ACTIONS = {
    "workspaces/experiments/jobs/terminate": "Terminates a job",
    "workspaces/experiments/jobs/listOutputFiles": "Lists output files of a job",
    "workspaces/experiments/jobs/listRemoteLoginInformation": "Lists how to reach the nodes of a job",
    "workspaces/clusters/listRemoteLoginInformation": "Lists how to reach the nodes of a cluster",
}


async def list_operations(call: Call) -> web.Response:
    """The operations that roles can allow; they need no subscription."""
    found = [
        _operation(resource, verb, f"{does} {what}")
        for resource, what in _RESOURCES.items()
        for verb, does in _READ_WRITE_DELETE.items()
    ]
    found += [_operation(action, "action", what) for action, what in _ACTIONS.items()]
    return call.part(found)


async def list_usages(call: Call) -> web.Response:
    """Clusters and cores in use in a region, and how many there may be."""
    clusters = clusters_in(call.store, call.names["subscription"], call.names["location"])
    cores = {"dedicated": 0, "lowpriority": 0}
    for cluster in clusters:
        priority = cluster.document.get("vmPriority", "dedicated")
        cores[priority] += len(cluster.nodes) * size_of(cluster.document["vmSize"]).cores
    return call.part(
        [
            _usage("Cluster", "Clusters", len(clusters), MOST_CLUSTERS),
            _usage("Dedicated", "Dedicated cores", cores["dedicated"], _CORES),
            _usage("LowPriority", "Low-priority cores", cores["lowpriority"], _CORES),
        ]
    )


def _operation(resource: str, verb: str, description: str) -> dict[str, object]:
    display = {
        "provider": "Microsoft Batch AI",
        "resource": resource,
        "operation": verb,
        "description": description,
    }
    return {"name": f"{ids.PROVIDER}/{resource}/{verb}", "display": display, "origin": "user,system"}


def _usage(value: str, shown: str, current: int, limit: int) -> dict[str, object]:
    name = {"value": value, "localizedValue": shown}
    return {"unit": "Count", "currentValue": current, "limit": limit, "name": name}
