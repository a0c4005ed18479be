"""The properties by which a list may be filtered.

For nodes, node counts, files and images they are those on the service's page "OData filters in Batch"; for
pools, jobs and tasks, all that the resource has in the caller's version. Other names are refused.
"""

from collections.abc import Collection, Mapping

from local.azurebatch.service.check import members_of

_WHOLE = {"pools": "Pool", "jobs": "Job", "tasks": "Task"}
_SOME: Mapping[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "nodes": "id state stateTransitionTime lastBootTime allocationTime startTaskInfo",
        "poolnodecounts": "poolId",
        "files": "name",
        "jobpreparationandreleasetaskstatuslist": "poolId nodeId jobPreparationTaskExecutionInfo"
        " jobReleaseTaskExecutionInfo",
        "supportedimages": "osType verificationType nodeAgentSKUId",
        "accountlistnodeagentskusresult": "osType",
    }.items()
}


def filterable(kind: str, version: str) -> Collection[str]:
    """The properties by which a version filters a kind of list."""
    return members_of(_WHOLE[kind], version) if kind in _WHOLE else _SOME[kind]
