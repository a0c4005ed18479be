"""Which directories of earlier jobs the nodes of a pool fetch, and from where."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from shared.core.relations.before import before, variables
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.job.before import directories_before, with_brought
from shared.engines.batch.job.site import site
from shared.engines.launch import plan
from tests.unit.engines.batch.service import CLUSTER, order

BLOBS = replace(
    CLUSTER, shared="", blobs="https://acct.blob.core.windows.net/jobs", identity="id", mounted=("data",)
)
ROOT = "$AZ_BATCHAI_MOUNT_ROOT"
SHARE = {"accountName": "a", "azureFileUrl": "https://a.file.core.windows.net/s", "relativeMountPath": "ext"}


def later(prefix: str, cluster: BatchCluster = BLOBS, *, name: str = "", where: str = "") -> Any:
    """An order after a job with an output directory at the prefix; `name` and `where`: of that job."""
    one = order()
    target = one.target.model_copy(update={"cluster": cluster.name})
    properties = {**one.document["properties"], "mountVolumes": {"azureFileShares": [SHARE]}}
    written = {"properties": {**properties, "outputDirectories": [{"id": "M", "pathPrefix": prefix}]}}
    first = target.model_copy(update={"name": "first-2", "cluster": where or cluster.name})
    segment = f"batch/gpu/experiments/{target.experiment}/jobs/{name or 'first-1'}/run"
    earlier = before(1, first, segment, written, {"properties": properties}, cluster.name)
    own = [{"name": name, "value": value} for name, value in variables((earlier,)).items()]
    document = {"properties": {**properties, "environmentVariables": own}}
    return replace(one, target=target, document=document, before=(earlier,))


def places(one: Any, cluster: BatchCluster = BLOBS) -> dict[str, str]:
    return {each.variable: each.prefix for each in directories_before(cluster, one)}


@pytest.mark.parametrize(
    ("prefix", "is_fetched"),
    [
        (f"{ROOT}/logs", True),
        ("/mnt/resource/out", True),
        ("$AZ_BATCHAI_JOB_MOUNT_ROOT/nothing", True),
        (f"{ROOT}/data/out", False),
        (f"{ROOT}/data", False),
        (f"{ROOT}/database", True),
        ("$AZ_BATCHAI_JOB_MOUNT_ROOT/ext/out", False),
    ],
)
def test_what_only_the_nodes_of_a_job_had_is_fetched_from_the_container(
    prefix: str, is_fetched: bool
) -> None:
    one = later(prefix)

    expected = f"{BLOBS.name}/files/{one.target.experiment}/first-1/run/M" if is_fetched else None
    assert places(one).get("SLIPWAY_AFTER_1_M") == expected
    changed = {
        v["name"]: v["value"] for v in with_brought(BLOBS, one).document["properties"]["environmentVariables"]
    }
    path = changed["SLIPWAY_AFTER_1_M"]
    assert (path == "$AZ_BATCHAI_JOB_TEMP/after/1/M") is is_fetched


def test_nothing_is_fetched_where_nodes_share_a_directory_nor_of_another_cluster() -> None:
    shared = later(f"{ROOT}/logs", CLUSTER)
    assert places(shared, CLUSTER) == {}
    assert with_brought(CLUSTER, shared) is shared
    assert places(later(f"{ROOT}/logs", where="other")) == {}


def test_a_record_that_names_another_job_fetches_nothing_of_it() -> None:
    assert places(later(f"{ROOT}/logs", name="victim-1")) == {}


def test_the_plan_says_what_to_fetch_and_holds_no_more_of_the_container_than_an_upload() -> None:
    one = later(f"{ROOT}/logs")
    (step,) = [one for one in plan.plan(site(BLOBS, one), one)["setup"] if "bring" in one["argv"]]

    where = json.loads(step["input"])
    assert {*where} == {"container", "prefix", "client", "before"}
    assert [prefix.rpartition("/")[2] for prefix, _ in where["before"]] == ["stdouterr", "M"]
    assert [place for _, place in where["before"]] == ["1/stdouterr", "1/M"]
