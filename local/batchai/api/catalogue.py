"""The provider's capabilities, and a subscription's usage in a region."""

from collections import Counter

from aiohttp import web

from local.batchai.api.existing import MOST_CLUSTERS, clusters_in
from local.batchai.api.wire import Call
from local.batchai.state import ids
from local.batchai.state.regions import check_region
from local.batchai.state.sizes import size_of

#: More than any emulated cluster can take.
_CORES = 2**31 - 1

_TOTAL = "Total Cluster {} Regional vCPUs"
#: The usages that the service listed for each priority: all cores, and the cores of seven families.
_SCOPES = [_TOTAL] + [
    f"Standard {family} Family Cluster {{}} vCPUs"
    for family in ("D", "Dv2", "NC", "NCv2", "NCv3", "ND", "NV")
]
_PRIORITIES = [("dedicated", "Dedicated", "Dedicated"), ("lowpriority", "LowPriority", "Low Priority")]

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
    operations = [
        _operation(resource, verb, f"{does} {what}")
        for resource, what in _RESOURCES.items()
        for verb, does in _READ_WRITE_DELETE.items()
    ]
    operations += [_operation(action, "action", what) for action, what in _ACTIONS.items()]
    return call.list_page(operations)


async def list_usages(call: Call) -> web.Response:
    """Clusters and cores in use in a region, and how many there may be."""
    check_region(call.names["location"], call.emulator.settings.location, "location")
    clusters = clusters_in(call.store, call.names["subscription"], call.names["location"])
    cores: Counter[tuple[str, str]] = Counter()
    for cluster in clusters:
        priority, size = cluster.document.get("vmPriority", "dedicated"), size_of(cluster.document["vmSize"])
        for scope in (_TOTAL, f"Standard {size.family} Family Cluster {{}} vCPUs"):
            cores[priority, scope] += len(cluster.nodes) * size.cores
    usages = [_usage("Clusters", "Clusters", len(clusters), MOST_CLUSTERS)]
    for priority, value, shown in _PRIORITIES:
        for scope in _SCOPES:
            used = cores[priority, scope]
            usages.append(_usage(scope.format(value), scope.format(shown), used, _CORES))
    return call.list_page(usages)


def _operation(resource: str, verb: str, description: str) -> dict[str, object]:
    display = {
        "provider": "Microsoft Batch AI",
        "resource": resource,
        "operation": verb,
        "description": description,
    }
    return {"name": f"{ids.PROVIDER}/{resource}/{verb}", "display": display, "origin": "user,system"}


def _usage(value: str, title: str, current: int, limit: int) -> dict[str, object]:
    name = {"value": value, "localizedValue": title}
    return {"unit": "Count", "currentValue": current, "limit": limit, "name": name}
