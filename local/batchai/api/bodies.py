"""The bodies that the operations accept, from the published description of API 2018-05-01."""

from local.batchai.api.shapes import Many, Object, Shape, Text, Whole, Words

_TEXT = Text()
_COUNT = Whole(1)
_PROXY = "id name type"
_STATES = "creationTime provisioningState provisioningStateTransitionTime"

_ID = Object({"id!": _TEXT})
_VAULT = Object({"sourceVault!": _ID, "secretUrl!": _TEXT})
_VARIABLES = Many(Object({"name!": _TEXT, "value!": _TEXT}))
_SECRETS = Many(Object({"name!": _TEXT, "value": _TEXT, "valueSecretReference": _VAULT}))
_KEY = Object({"accountKey": _TEXT, "accountKeySecretReference": _VAULT})
_MOUNTS = Object(
    {
        "azureFileShares": Many(
            Object(
                {
                    "accountName!": _TEXT,
                    "azureFileUrl!": _TEXT,
                    "credentials!": _KEY,
                    "relativeMountPath!": _TEXT,
                    "fileMode": _TEXT,
                    "directoryMode": _TEXT,
                }
            )
        ),
        "azureBlobFileSystems": Many(
            Object(
                {
                    "accountName!": _TEXT,
                    "containerName!": _TEXT,
                    "credentials!": _KEY,
                    "relativeMountPath!": _TEXT,
                    "mountOptions": _TEXT,
                }
            )
        ),
        "fileServers": Many(
            Object(
                {
                    "fileServer!": _ID,
                    "sourceDirectory": _TEXT,
                    "relativeMountPath!": _TEXT,
                    "mountOptions": _TEXT,
                }
            )
        ),
        "unmanagedFileSystems": Many(Object({"mountCommand!": _TEXT, "relativeMountPath!": _TEXT})),
    }
)
_CONTAINER = Object(
    {
        "imageSourceRegistry!": Object(
            {
                "image!": _TEXT,
                "serverUrl": _TEXT,
                "credentials": Object(
                    {"username!": _TEXT, "password": _TEXT, "passwordSecretReference": _VAULT}
                ),
            }
        ),
        "shmSize": _TEXT,
    }
)
_SCRIPT = {"pythonScriptFilePath": _TEXT, "pythonInterpreterPath": _TEXT, "commandLineArgs": _TEXT}
_SCRIPT_REQUIRED = {"pythonScriptFilePath!": _TEXT, "pythonInterpreterPath": _TEXT, "commandLineArgs": _TEXT}
_TENSORFLOW: dict[str, Shape] = {
    "pythonScriptFilePath!": _TEXT,
    "pythonInterpreterPath": _TEXT,
    "masterCommandLineArgs": _TEXT,
    "workerCommandLineArgs": _TEXT,
    "parameterServerCommandLineArgs": _TEXT,
    "workerCount": _COUNT,
    "parameterServerCount": _COUNT,
}

#: Block of job.json → its fields.
TOOLKITS = {
    "cntkSettings": Object(
        {"languageType": _TEXT, "configFilePath": _TEXT, **_SCRIPT, "processCount": _COUNT}
    ),
    "pyTorchSettings": Object({**_SCRIPT_REQUIRED, "processCount": _COUNT, "communicationBackend": _TEXT}),
    "tensorFlowSettings": Object(_TENSORFLOW),
    "caffeSettings": Object({"configFilePath": _TEXT, **_SCRIPT, "processCount": _COUNT}),
    "caffe2Settings": Object(_SCRIPT_REQUIRED),
    "chainerSettings": Object({**_SCRIPT_REQUIRED, "processCount": _COUNT}),
    "customToolkitSettings": Object({"commandLine": _TEXT}),
    "customMpiSettings": Object({"commandLine!": _TEXT, "processCount": _COUNT}),
    "horovodSettings": Object({**_SCRIPT_REQUIRED, "processCount": _COUNT}),
}
_JOB = Object(
    {
        "schedulingPriority": Text(("low", "normal", "high")),
        "cluster!": _ID,
        "mountVolumes": _MOUNTS,
        "nodeCount!": _COUNT,
        "containerSettings": _CONTAINER,
        **TOOLKITS,
        "jobPreparation": Object({"commandLine!": _TEXT}),
        "stdOutErrPathPrefix!": _TEXT,
        "inputDirectories": Many(Object({"id!": _TEXT, "path!": _TEXT})),
        "outputDirectories": Many(Object({"id!": _TEXT, "pathPrefix!": _TEXT, "pathSuffix": _TEXT})),
        "environmentVariables": _VARIABLES,
        "secrets": _SECRETS,
        "constraints": Object({"maxWallClockTime": _TEXT}),
    },
    f"{_STATES} experimentName toolType jobOutputDirectoryPathSegment executionState"
    " executionStateTransitionTime executionInfo",
)
_USER = Object({"adminUserName!": _TEXT, "adminUserSshPublicKey": _TEXT, "adminUserPassword": _TEXT})
_SCALE = Object(
    {
        "manual": Object(
            {
                "targetNodeCount!": Whole(),
                "nodeDeallocationOption": Text(("requeue", "terminate", "waitforjobcompletion")),
            }
        ),
        "autoScale": Object(
            {"minimumNodeCount!": Whole(), "maximumNodeCount!": Whole(), "initialNodeCount": Whole()}
        ),
    }
)
_IMAGE = {
    "publisher!": _TEXT,
    "offer!": _TEXT,
    "sku!": _TEXT,
    "version": _TEXT,
    "virtualMachineImageId": _TEXT,
}
_SETUP = Object(
    {
        "setupTask": Object(
            {
                "commandLine!": _TEXT,
                "environmentVariables": _VARIABLES,
                "secrets": _SECRETS,
                "stdOutErrPathPrefix!": _TEXT,
            },
            "stdOutErrPathSuffix",
        ),
        "mountVolumes": _MOUNTS,
        "performanceCountersSettings": Object(
            {
                "appInsightsReference!": Object(
                    {
                        "component!": _ID,
                        "instrumentationKey": _TEXT,
                        "instrumentationKeySecretReference": _VAULT,
                    }
                )
            }
        ),
    }
)
_CLUSTER = Object(
    {
        "vmSize!": _TEXT,
        "vmPriority": Text(("dedicated", "lowpriority")),
        "scaleSettings": _SCALE,
        "virtualMachineConfiguration": Object({"imageReference": Object(_IMAGE)}),
        "nodeSetup": _SETUP,
        "userAccountSettings!": _USER,
        "subnet": _ID,
    },
    f"{_STATES} allocationState allocationStateTransitionTime errors currentNodeCount nodeStateCounts",
)

_FILE_SERVER = Object(
    {
        "vmSize!": _TEXT,
        "sshConfiguration!": Object({"publicIPsToAllow": Many(_TEXT), "userAccountSettings!": _USER}),
        "dataDisks!": Object(
            {
                "diskSizeInGB!": _COUNT,
                "diskCount!": _COUNT,
                "storageAccountType!": Text(("Standard_LRS", "Premium_LRS")),
                "cachingType": Text(("none", "readonly", "readwrite")),
            }
        ),
        "subnet": _ID,
    },
    f"{_STATES} mountSettings",
)

WORKSPACE = Object({"location!": _TEXT, "tags": Words()}, f"{_PROXY} properties")
#: A resource group; clients send more of it than matters here.
GROUP = Object({"location!": _TEXT, "tags": Words()}, f"{_PROXY} properties managedBy")
ACCOUNT_NAME = Object({"name!": _TEXT}, "type")
WORKSPACE_PATCH = Object({"tags": Words()}, _PROXY)
CLUSTER = Object({"properties!": _CLUSTER}, _PROXY)
CLUSTER_PATCH = Object({"properties": Object({"scaleSettings": _SCALE})}, _PROXY)
FILE_SERVER = Object({"properties!": _FILE_SERVER}, _PROXY)
#: The published job.json files name a schema, which clients do not send.
JOB = Object({"properties!": _JOB}, f"{_PROXY} $schema")
