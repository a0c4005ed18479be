"""The properties by which a list may be filtered.

For nodes, node counts, files and images they are those on the service's page "OData filters in Batch"; for
pools, jobs and tasks, all that the resource has. Other names are refused.
"""

from collections.abc import Mapping

_OF_ALL = (
    "id displayName url eTag lastModified creationTime state stateTransitionTime previousState"
    " previousStateTransitionTime metadata stats executionInfo constraints"
)
FILTERS: Mapping[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "pools": f"{_OF_ALL} allocationState allocationStateTransitionTime vmSize virtualMachineConfiguration"
        " resizeTimeout resizeErrors currentDedicatedNodes currentLowPriorityNodes targetDedicatedNodes"
        " targetLowPriorityNodes enableAutoScale autoScaleFormula autoScaleEvaluationInterval autoScaleRun"
        " enableInterNodeCommunication networkConfiguration startTask taskSlotsPerNode taskSchedulingPolicy"
        " targetNodeCommunicationMode currentNodeCommunicationMode",
        "jobs": f"{_OF_ALL} usesTaskDependencies priority allowTaskPreemption maxParallelTasks poolInfo"
        " commonEnvironmentSettings onAllTasksComplete onTaskFailure",
        "tasks": f"{_OF_ALL} exitConditions commandLine containerSettings environmentSettings affinityInfo"
        " requiredSlots userIdentity nodeInfo multiInstanceSettings dependsOn",
        "nodes": "id state stateTransitionTime lastBootTime allocationTime startTaskInfo",
        "poolnodecounts": "poolId",
        "files": "name",
        "jobpreparationandreleasetaskstatuslist": "poolId nodeId jobPreparationTaskExecutionInfo"
        " jobReleaseTaskExecutionInfo",
        "supportedimages": "osType verificationType nodeAgentSKUId",
        "accountlistnodeagentskusresult": "osType",
    }.items()
}
