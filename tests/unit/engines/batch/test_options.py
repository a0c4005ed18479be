"""The options of a cluster on Azure Batch: every mistake is named before a job meets it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from shared.core.errors import Misconfigured
from shared.core.facts import ClusterFacts
from shared.engines.batch.cluster import clusters_from
from shared.engines.node.uploads import LATE_UPLOAD
from tests.unit.engines.batch.test_quota import ID

BARE = {"url": "https://a.westeurope.batch.azure.com", "pool": "t4", "shared": "/nfs/s", "maxNodes": 4}


def test_what_is_configured_are_the_facts_of_the_cluster() -> None:
    options = {**BARE, "gpus": 1, "nodeMemory": 28672, "maxWallClock": "PT12H", "mounted": ["logs"]}
    cluster = clusters_from({"gpu": options}, "x")["gpu"]

    assert cluster.facts == ClusterFacts(frozenset({"logs"}), 4, 1, 28672, timedelta(hours=12))
    assert cluster.queues == {"low": "gpu-low", "normal": "gpu-normal", "high": "gpu-high"}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"url": ""}, "url is missing"),
        ({"pool": ""}, "pool is missing"),
        ({"shared": ""}, "either shared or blobs is needed"),
        ({"url": "a.batch.azure.com"}, "url must be the address of a Batch account"),
        ({"url": "http://a.batch.azure.com"}, "plain http is only for an emulator"),
        ({"pool": "a pool"}, "pool has at most 64 letters"),
        ({"shared": "here"}, "'here' is not an absolute path"),
        ({"mountRoot": "/$HOME"}, "is not an absolute path"),
        ({"path": "/bin:~/bin"}, "'~/bin' is not an absolute directory"),
        ({"resource": "acct"}, "resource must be the account's id"),
        ({"resource": f"{ID}/pools/t4", "account": "acct"}, "resource must be the account's id"),
        ({"resource": ID}, "resource must be the account's id"),
        ({"maxNodes": 0}, "maxNodes is missing"),
        ({"maxNodes": -1}, "maxNodes has to be at least 0"),
        ({"minNodes": 5}, "minNodes is above maxNodes"),
        ({"maxWallClock": "1d"}, "maxWallClock is not an ISO 8601 duration"),
        ({"nodes": 1}, "there is no option 'nodes'"),
    ],
)
def test_a_mistake_is_named_with_its_place(options: dict[str, Any], text: str) -> None:
    with pytest.raises(Misconfigured, match=f"^x: gpu: .*{text}"):
        clusters_from({"gpu": BARE | options}, "x")


def test_nodes_with_a_container_keep_what_is_on_no_mount() -> None:
    blobs = {"shared": "", "blobs": "https://acct.blob.core.windows.net/c"}
    clusters = clusters_from({"gpu": BARE | blobs, "cpu": BARE}, "x")

    assert [one.facts.keeps_files for one in clusters.values()] == [True, False]


def test_the_id_of_the_account_is_taken_with_its_name_in_any_case() -> None:
    options = BARE | {"account": "acct", "resource": ID.replace("acct", "ACCT")}

    assert clusters_from({"gpu": options}, "x")["gpu"].resource.endswith("/ACCT")


def test_a_pool_that_an_operator_scales_needs_no_bounds() -> None:
    assert clusters_from({"gpu": BARE | {"maxNodes": 0, "scales": False}}, "x")["gpu"].max_nodes == 0


def test_a_name_that_no_batch_job_can_bear_is_refused() -> None:
    for name in ("my cluster", "c" * 58):
        with pytest.raises(Misconfigured, match="its Batch jobs bear its name"):
            clusters_from({name: BARE}, "x")


def test_a_job_may_save_for_its_grace_and_is_terminated_only_after_its_upload() -> None:
    blobs = {**BARE, "shared": "", "blobs": "https://a.blob.core.windows.net/c", "graceSeconds": 45}
    for options in (blobs, {**BARE, "graceSeconds": 45}):
        cluster = clusters_from({"gpu": options}, "x")["gpu"]
        assert cluster.ending == 45
        assert cluster.terminated_after > cluster.ending + LATE_UPLOAD


@pytest.mark.parametrize(
    ("host", "scope", "management"),
    [
        ("a.westeurope.batch.azure.com", "https://batch.core.windows.net/.default", "azure.com"),
        (
            "a.usgovvirginia.batch.usgovcloudapi.net",
            "https://batch.core.usgovcloudapi.net/.default",
            "usgovcloudapi.net",
        ),
        (
            "a.chinaeast2.batch.chinacloudapi.cn",
            "https://batch.chinacloudapi.cn/.default",
            "chinacloudapi.cn",
        ),
    ],
)
def test_the_scope_of_a_token_is_that_of_the_accounts_cloud(host: str, scope: str, management: str) -> None:
    (cluster,) = clusters_from({"gpu": {**BARE, "url": f"https://{host}"}}, "x").values()

    assert (cluster.scope, cluster.management) == (scope, f"https://management.{management}")
