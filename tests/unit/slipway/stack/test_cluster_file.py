"""cluster.json: what is wrong with it in one line, and what is filled in."""

import json
from pathlib import Path
from typing import Any

import pytest

from shared.settings import Settings
from slipway.failure import Failure
from slipway.stack.cluster_file import cluster_from

SETTINGS = Settings({"SLIPWAY_STORAGE": "AccountName=acme;AccountKey=a2V5;EndpointSuffix=core.windows.net"})
CLUSTER: dict[str, Any] = {
    "properties": {"vmSize": "Standard_NC6", "scaleSettings": {"manual": {"targetNodeCount": 1}}}
}


def written(folder: Path, text: object) -> Path:
    file = folder / "cluster.json"
    file.write_text(text if isinstance(text, str) else json.dumps(text))
    return file


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('{"properties": {', "line 1, column"),
        ("[]", "a cluster"),
        ({}, '"properties"'),
        ({"properties": []}, '"properties"'),
        ({"properties": {"vmSize": "Standard_NC6"}}, '"scaleSettings"'),
        ({**CLUSTER, "vmSize": "Standard_NC6"}, '"vmSize" beside'),
        ({"properties": CLUSTER["properties"] | {"nodeSetup": []}}, "nodeSetup"),
    ],
)
def test_a_file_that_is_no_cluster_is_refused_in_one_line(tmp_path: Path, content: object, text: str) -> None:
    file = written(tmp_path, content)

    with pytest.raises(Failure) as refused:
        cluster_from(file, SETTINGS)

    message = str(refused.value)
    assert message.startswith(f"{file}: ")
    assert text in message
    assert "\n" not in message


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="cannot be read"):
        cluster_from(tmp_path / "cluster.json", SETTINGS)


def test_accounts_and_keys_of_the_mounts_are_filled_in(tmp_path: Path) -> None:
    mount = {
        "accountName": "<AZURE_BATCHAI_STORAGE_ACCOUNT>",
        "azureFileUrl": "https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/logs",
        "relativeMountPath": "logs",
    }
    setup = {"mountVolumes": {"azureFileShares": [mount]}, "setupTask": {"commandLine": "true"}}
    file = written(tmp_path, {"properties": CLUSTER["properties"] | {"nodeSetup": setup}})

    result = cluster_from(file, SETTINGS)["properties"]

    assert result["nodeSetup"]["setupTask"] == {"commandLine": "true"}
    assert result["nodeSetup"]["mountVolumes"]["azureFileShares"] == [
        {
            "accountName": "acme",
            "azureFileUrl": "https://acme.file.core.windows.net/logs",
            "relativeMountPath": "logs",
            "credentials": {"accountKey": "a2V5"},
        }
    ]
    assert result["vmSize"] == "Standard_NC6"
