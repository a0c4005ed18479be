"""Documents that the tests of this folder start from."""

from __future__ import annotations

from typing import Any

from shared.jobspec.text.tree import copied

CLUSTER = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/group"
    "/providers/Microsoft.BatchAI/workspaces/dev/clusters/dev-cluster-00"
)
VAULT = "/subscriptions/s/resourceGroups/g/providers/Microsoft.KeyVault/vaults/keys"
FILE_SERVER = "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w/fileServers/nfs"
REFERENCE: dict[str, Any] = {
    "sourceVault": {"id": VAULT},
    "secretUrl": "https://keys.vault.azure.net/secrets/one/0123456789abcdef",
}
SHARE: dict[str, Any] = {
    "accountName": "account",
    "azureFileUrl": "https://account.file.core.windows.net/logs",
    "relativeMountPath": "logs",
}
BLOBS: dict[str, Any] = {"accountName": "account", "containerName": "data", "relativeMountPath": "data"}
SCRIPT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/data/train.py"


def job(**properties: Any) -> dict[str, Any]:
    """A completed job without any problem, with some properties replaced; None leaves one out."""
    whole: dict[str, Any] = {
        "cluster": {"id": CLUSTER},
        "nodeCount": 2,
        "customToolkitSettings": {"commandLine": "echo hello"},
        "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs",
        "mountVolumes": {"azureFileShares": [SHARE], "azureBlobFileSystems": [BLOBS]},
        **properties,
    }
    return {"properties": {key: value for key, value in whole.items() if value is not None}}


def toolkit(name: str, /, **block: Any) -> dict[str, Any]:
    """The same job with this toolkit block in place of the other."""
    return job(customToolkitSettings=None, **{name: block})


def script_toolkit(name: str, /, **block: Any) -> dict[str, Any]:
    """The same with a script to run."""
    return toolkit(name, pythonScriptFilePath=SCRIPT, **block)


def mounts(**lists: Any) -> dict[str, Any]:
    """The same job with these mounts besides its own."""
    return job(mountVolumes={"azureFileShares": [SHARE], "azureBlobFileSystems": [BLOBS], **lists})


def share(**changes: Any) -> dict[str, Any]:
    """The same job, its share changed."""
    return mounts(azureFileShares=[{key: v for key, v in {**SHARE, **changes}.items() if v is not None}])


def blobs(**changes: Any) -> dict[str, Any]:
    """The same job, its blob container changed."""
    return mounts(azureBlobFileSystems=[{key: v for key, v in {**BLOBS, **changes}.items() if v is not None}])


def everything() -> dict[str, Any]:
    """A job that uses every part of the format but the other eight toolkits."""
    whole: dict[str, Any] = {
        "$schema": "https://raw.githubusercontent.com/Azure/BatchAI/master/schemas/2018-05-01/job.json",
        **job(
            schedulingPriority="high",
            mountVolumes={
                "azureFileShares": [{**SHARE, "fileMode": "0777", "directoryMode": "755", "credentials": {}}],
                "azureBlobFileSystems": [
                    {**BLOBS, "credentials": {"accountKey": "a2V5"}, "mountOptions": "-o allow_other"},
                    {
                        **BLOBS,
                        "relativeMountPath": "more/data",
                        "credentials": {"accountKeySecretReference": REFERENCE},
                    },
                ],
                "fileServers": [
                    {
                        "fileServer": {"id": FILE_SERVER},
                        "relativeMountPath": "nfs",
                        "sourceDirectory": "home/team",
                        "mountOptions": "rw",
                    }
                ],
            },
            containerSettings={
                "imageSourceRegistry": {
                    "image": "registry.example.org:5000/team/image:1.0",
                    "serverUrl": "https://registry.example.org:5000",
                    "credentials": {"username": "me", "passwordSecretReference": REFERENCE},
                },
                "shmSize": "2g",
            },
            jobPreparation={"commandLine": "apt update; apt install -y mpi-default-bin"},
            inputDirectories=[{"id": "DATA", "path": "$AZ_BATCHAI_JOB_MOUNT_ROOT/data/digits"}],
            outputDirectories=[
                {"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs", "pathSuffix": "models/best"}
            ],
            environmentVariables=[{"name": "WHERE", "value": "$AZ_BATCHAI_INPUT_DATA/x"}],
            secrets=[{"name": "A", "value": "b"}, {"name": "C", "valueSecretReference": REFERENCE}],
            constraints={"maxWallClockTime": "PT36H"},
            customToolkitSettings={
                "commandLine": "python $AZ_BATCHAI_INPUT_DATA/a.py > $AZ_BATCHAI_OUTPUT_MODEL/b"
            },
        ),
    }
    result: dict[str, Any] = copied(whole)
    return result


def every_place(document: Any) -> list[tuple[Any, Any]]:
    """Each member of a document, as its holder and its key."""
    results: list[tuple[Any, Any]] = []
    holders = [document]
    for holder in holders:
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            results.append((holder, key))
            if isinstance(holder[key], dict | list):
                holders.append(holder[key])
    return results
