"""The variables by which a job finds what the jobs before it wrote."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.job import Target
from shared.core.relations.before import Before, before, variables

SHARE = {"accountName": "a", "azureFileUrl": "https://a.file.core.windows.net/s", "relativeMountPath": "ext"}
BLOBS = {"accountName": "a", "containerName": "c", "relativeMountPath": "ext/blobs/"}
JOB, CLUSTER = "$AZ_BATCHAI_JOB_MOUNT_ROOT", "$AZ_BATCHAI_MOUNT_ROOT"
TARGET = Target(engine="e", cluster="here", experiment="x", name="n-1", token="j_1.1")


def document(prefix: str = f"{CLUSTER}/logs", *shares: Any, suffix: str = "model", **more: Any) -> Any:
    output = {"id": "MODEL", "pathPrefix": prefix, "pathSuffix": suffix}
    mounts = {"mountVolumes": {"azureFileShares": list(shares)}} if shares else {}
    properties = {"stdOutErrPathPrefix": f"{CLUSTER}/logs", "outputDirectories": [output]}
    return {"properties": {**properties, **mounts, **more}}


def one(written: Any, ours: Any, cluster: str = "here") -> Before:
    return before(2, TARGET, "seg/1", written, ours, cluster)


def path(written: Any, ours: Any, cluster: str = "here") -> str:
    return variables((one(written, ours, cluster),)).get("SLIPWAY_AFTER_2_MODEL", "")


def test_each_directory_of_a_job_has_a_variable() -> None:
    assert variables((one(document(), document()),)) == {
        "SLIPWAY_AFTER_2_STDOUTERR": f"{CLUSTER}/logs/seg/1/stdouterr",
        "SLIPWAY_AFTER_2_MODEL": f"{CLUSTER}/logs/seg/1/outputs/model",
    }


ELSEWHERE = {**SHARE, "relativeMountPath": "in", "credentials": {"accountKey": "k"}, "fileMode": "0700"}
BOTH = {"azureFileShares": [SHARE], "azureBlobFileSystems": [BLOBS]}
OF_BLOBS = {"azureBlobFileSystems": [{**BLOBS, "relativeMountPath": "b"}]}


@pytest.mark.parametrize(
    ("written", "ours", "expected"),
    [
        # What the job mounted itself, by the same volume here, under whichever name.
        (document(f"{JOB}/ext", SHARE), document("x", SHARE), f"{JOB}/ext"),
        (document("${AZ_BATCHAI_JOB_MOUNT_ROOT}/ext/a/", SHARE), document("x", ELSEWHERE), f"{JOB}/in/a"),
        (document(f"{JOB}/ext", SHARE), document(), ""),
        (document(f"{JOB}/ext", SHARE), document("x", {**SHARE, "accountName": "other"}), ""),
        (document(f"{JOB}/extra", SHARE), document("x", SHARE), ""),
        (document(f"{JOB}/local"), document(), ""),
        (document(f"{JOB}/ext/blobs/d", mountVolumes=BOTH), document(mountVolumes=OF_BLOBS), f"{JOB}/b/d"),
        # Paths of other kinds.
        (document("/mnt/data"), document(), "/mnt/data"),
        (document("logs"), document(), ""),
        (document("$HOME/logs"), document(), ""),
        (document(f"{CLUSTER}/$NAME"), document(), ""),
        (document(f"{CLUSTER}X/logs"), document(), ""),
        (document("/mnt/$NAME"), document(), ""),
    ],
)
def test_a_path_is_where_this_job_has_the_volume(written: Any, ours: Any, expected: str) -> None:
    assert path(written, ours) == (f"{expected}/seg/1/outputs/model" if expected else "")


@pytest.mark.parametrize(
    ("suffix", "expected"),
    [("", "outputs"), ("$NAME", ""), ("a;rm -rf `x`", "outputs/a;rm -rf `x`"), ("a/b/", "outputs/a/b")],
)
def test_a_suffix_is_taken_as_it_is_or_not_at_all(suffix: str, expected: str) -> None:
    whole = f"{CLUSTER}/logs/seg/1/{expected}" if expected else ""
    assert path(document(suffix=suffix), document()) == whole


def test_another_cluster_reaches_only_volumes_that_jobs_mount() -> None:
    assert path(document(), document(), "there") == ""
    assert path(document("/mnt/data"), document(), "there") == ""
    assert (
        path(document(f"{JOB}/ext", SHARE), document("x", SHARE), "there") == f"{JOB}/ext/seg/1/outputs/model"
    )


def test_an_output_directory_that_is_called_as_the_logs_takes_their_place() -> None:
    written = document()
    written["properties"]["outputDirectories"][0]["id"] = "STDOUTERR"

    assert variables((one(written, document()),)) == {
        "SLIPWAY_AFTER_2_STDOUTERR": f"{CLUSTER}/logs/seg/1/outputs/model"
    }


@pytest.mark.parametrize(
    ("identity", "is_known", "name"),
    [
        ("MODEL", True, "SLIPWAY_AFTER_2_SAVED"),
        ("saved", True, "SLIPWAY_AFTER_2_SAVED"),
        ("SAVED", True, ""),
        ("M", False, ""),
    ],
)
def test_a_name_is_that_of_one_directory_alone(identity: str, is_known: bool, name: str) -> None:
    written = document()
    written["properties"]["outputDirectories"][0]["id"] = identity
    earlier = one(written, document())._replace(is_known=is_known)

    assert earlier.saved == name
    assert f"SLIPWAY_AFTER_2_{identity}" in variables((earlier,))
