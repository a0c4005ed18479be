"""What completion fills in, what it notes, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from shared.jobspec import Defaults, complete, validate
from shared.jobspec.text.tree import copied
from tests.unit.jobspec.jobs import BLOBS, CLUSTER, SHARE, everything, job

OTHER = CLUSTER.replace("dev-cluster-00", "other")
NOTHING = Defaults()
DROP = Defaults(drop_container="drop", drop_account="dropaccount")


def _properties(document: dict[str, Any], defaults: Defaults) -> dict[str, Any]:
    completed, _ = complete(document, defaults)
    result: dict[str, Any] = completed["properties"]
    return result


def test_nothing_to_complete_gives_an_equal_copy_without_notes() -> None:
    document = everything()

    completed, notes = complete(document, NOTHING)

    assert completed == document
    assert completed is not document
    assert notes == ()


def test_the_input_is_never_changed() -> None:
    document = job(cluster=None, mountVolumes={"azureBlobFileSystems": [dict(BLOBS)]})
    before = copied(document)

    complete(document, Defaults(cluster_id=CLUSTER, drop_container="drop", drop_account="abc"))

    assert document == before


@pytest.mark.parametrize(
    ("written", "chosen", "expected"),
    [
        (None, None, {"id": CLUSTER}),
        ({"id": OTHER}, None, {"id": OTHER}),
        ({"id": "small"}, None, {"id": OTHER}),
        ("small", None, {"id": OTHER}),
        ("unheard-of", None, {"id": "unheard-of"}),
        (None, "small", {"id": OTHER}),
        ({"id": CLUSTER}, "small", {"id": OTHER}),
        ({"id": "small"}, CLUSTER, {"id": CLUSTER}),
        ({"id": "small", "x": 1}, None, {"id": "small", "x": 1}),
        (7, None, 7),
    ],
)
def test_the_cluster_comes_by_name_by_id_or_by_default(
    written: Any, chosen: str | None, expected: Any
) -> None:
    defaults = Defaults(cluster_id=CLUSTER, clusters={"small": OTHER})

    completed, _ = complete(job(cluster=written), defaults, cluster=chosen)

    assert completed["properties"]["cluster"] == expected


def test_notes_tell_people_what_was_filled_in() -> None:
    defaults = Defaults(cluster_id=CLUSTER, std_out_err_path_prefix="$AZ_BATCHAI_MOUNT_ROOT/logs")

    completed, notes = complete(job(cluster=None, stdOutErrPathPrefix=None), defaults)

    assert notes == (
        "cluster: filled in with the default, dev-cluster-00",
        "stdOutErrPathPrefix: filled in with the default, $AZ_BATCHAI_MOUNT_ROOT/logs",
    )
    assert completed["properties"]["stdOutErrPathPrefix"] == "$AZ_BATCHAI_MOUNT_ROOT/logs"


def test_a_missing_node_count_is_left_to_the_person() -> None:
    assert "nodeCount" not in _properties(job(nodeCount=None), Defaults(cluster_id=CLUSTER))


def test_the_account_placeholder_is_filled_in_where_the_command_line_tool_did() -> None:
    place = "<AZURE_BATCHAI_STORAGE_ACCOUNT>"
    share = {"azureFileUrl": f"https://{place}.file.core.windows.net/logs", "relativeMountPath": "logs"}
    document = job(
        mountVolumes={"azureFileShares": [share], "azureBlobFileSystems": [{**BLOBS, "accountName": place}]},
        customToolkitSettings={"commandLine": f"echo {place}"},
    )

    properties = _properties(document, Defaults(storage_account="mine"))

    assert properties["mountVolumes"]["azureFileShares"] == [
        {
            "accountName": "mine",
            "azureFileUrl": "https://mine.file.core.windows.net/logs",
            "relativeMountPath": "logs",
        }
    ]
    assert properties["mountVolumes"]["azureBlobFileSystems"][0]["accountName"] == "mine"
    assert properties["customToolkitSettings"]["commandLine"] == f"echo {place}"


def test_without_an_account_the_placeholder_stays_and_is_a_problem() -> None:
    share = {
        "azureFileUrl": "https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.x.net/logs",
        "relativeMountPath": "logs",
    }

    completed, _ = complete(job(mountVolumes={"azureFileShares": [share, BLOBS]}), NOTHING)
    _, problems = validate(completed)

    assert "SW046" in {one.code for one in problems}


def test_the_account_name_comes_of_the_share_address() -> None:
    for url, account in (
        ("https://other.file.core.windows.net/logs", "other"),
        ("https://[broken", None),
        ("nonsense", None),
        (7, None),
    ):
        share = {"azureFileUrl": url, "relativeMountPath": "logs"}
        shares = _properties(job(mountVolumes={"azureFileShares": [share]}), NOTHING)["mountVolumes"][
            "azureFileShares"
        ]
        assert shares[0].get("accountName") == account


def test_a_key_placeholder_is_left_for_submission() -> None:
    placeholder = {"accountKey": "<AZURE_BATCHAI_STORAGE_KEY>"}
    document = job(mountVolumes={"azureFileShares": [{**SHARE, "credentials": placeholder}]})

    assert _properties(document, NOTHING)["mountVolumes"]["azureFileShares"][0]["credentials"] == {}


@pytest.mark.parametrize(
    "volumes", [None, {}, {"azureBlobFileSystems": None}, {"azureBlobFileSystems": [BLOBS]}]
)
def test_a_drop_gets_its_container_mounted(volumes: Any) -> None:
    properties = _properties(job(mountVolumes=volumes), DROP)

    mounted = properties["mountVolumes"]["azureBlobFileSystems"]
    assert mounted[-1] == {
        "accountName": "dropaccount",
        "containerName": "drop",
        "relativeMountPath": "scripts",
    }
    assert mounted[:-1] == ((volumes or {}).get("azureBlobFileSystems") or [])


@pytest.mark.parametrize(
    "name", ["azureFileShares", "azureBlobFileSystems", "fileServers", "unmanagedFileSystems"]
)
def test_nothing_is_mounted_where_scripts_is_taken(name: str) -> None:
    document = job(mountVolumes={name: [{"relativeMountPath": "scripts"}]})

    completed, notes = complete(document, DROP, script="a.py", folder="digits")

    assert completed == document
    assert notes == ()


def test_only_a_drop_gets_the_container_mounted() -> None:
    assert "mountVolumes" not in _properties(job(mountVolumes=None), Defaults(storage_account="mine"))


@pytest.mark.parametrize("volumes", [7, [], "x", {"azureBlobFileSystems": 7}, {"azureFileShares": [7, None]}])
def test_wrong_types_are_left_to_validation(volumes: Any) -> None:
    completed, _ = complete(job(mountVolumes=volumes), Defaults(cluster_id=CLUSTER, storage_account="mine"))

    assert completed["properties"]["mountVolumes"] == volumes


@pytest.mark.parametrize("document", [{}, {"properties": None}, {"properties": []}, [], None, "x"])
def test_what_is_no_job_stays_as_it_is(document: Any) -> None:
    assert complete(document, DROP) == (document, ())
