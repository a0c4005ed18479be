"""Jobs that end before any of their processes runs: clients see a failure, and read why."""

from __future__ import annotations

from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError

from tests.contract.emulator.conftest import (
    GROUP,
    Lab,
    autoscale,
    blob_mount,
    custom,
    share_mount,
)

_RESULTS = blob_mount("out", "out")
_VAULT = {
    "name": "TOKEN",
    "valueSecretReference": {
        "sourceVault": {"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.KeyVault/vaults/v"},
        "secretUrl": "https://v.vault.azure.net/secrets/absent",
    },
}
#: The code of the end → a job that ends so, and what its reason names.
ENDS: dict[str, tuple[dict[str, Any], str]] = {
    "ProgramNotInstalled": ({"caffeSettings": {"configFilePath": "solver"}}, "caffe-cpu"),
    "KeyVaultSecretNotFound": (custom("true") | {"secrets": [_VAULT]}, "--secrets-file"),
    "BFSMountError": (
        custom("true")
        | {"mountVolumes": {"azureBlobFileSystems": [blob_mount("absent-container", "data"), _RESULTS]}},
        "absent-container",
    ),
    "AFSMountError": (
        custom("true")
        | {
            "mountVolumes": {
                "azureFileShares": [share_mount("absent-share", "data")],
                "azureBlobFileSystems": [_RESULTS],
            }
        },
        "absent-share",
    ),
}


@pytest.mark.parametrize("code", ENDS)
async def test_its_exit_code_is_127_and_its_standard_error_holds_the_reason(lab: Lab, code: str) -> None:
    job, named = ENDS[code]
    await lab.make_cluster(autoscale(1))
    await lab.submit("job", **job)

    ended = await lab.ends("job")

    (error,) = ended.execution_info.errors
    assert (ended.execution_state, error.code, ended.execution_info.exit_code) == ("failed", code, 127)
    assert set(await lab.files("job")) == {"execution.log", "stderr.txt"}
    assert await lab.read("job", "stderr.txt") == f"{code}: {error.message}\n"
    assert named in error.message


async def test_so_it_ends_where_its_output_cannot_be_mounted_either(lab: Lab) -> None:
    await lab.make_cluster(autoscale(1))
    mounts = {"azureBlobFileSystems": [blob_mount("absent-container", "out")]}
    await lab.submit("job", mountVolumes=mounts, **custom("true"))

    ended = await lab.ends("job")

    assert (ended.execution_info.exit_code, ended.execution_info.errors[0].code) == (127, "BFSMountError")
    with pytest.raises(HttpResponseError, match="stdouterr is not present on a mount root"):
        await lab.files("job")


async def test_a_job_whose_cluster_is_deleted_before_it_ran_fails_with_it(lab: Lab) -> None:
    await lab.make_cluster({"manual": {"targetNodeCount": 0}})
    await lab.submit("job", **custom("true"))

    await (await lab.client.clusters.begin_delete(GROUP, lab.workspace, "dev-cluster-00")).result()

    info = (await lab.job("job")).execution_info
    assert (info.exit_code, info.errors[0].code) == (127, "ClusterDeleted")
