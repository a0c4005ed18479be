"""The options of a cluster on Kubernetes: each mistake is named with its place and remedy."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.errors import Misconfigured
from shared.engines.kubernetes.cluster import clusters_from

NEEDED: dict[str, Any] = {"shared": "/data/slipway", "volumes": {"/data": "pvc:data"}, "image": "python:3.13"}


def test_a_cluster_needs_a_shared_directory_its_volume_and_an_image() -> None:
    (cluster,) = clusters_from({"gpu": {**NEEDED, "maxNodes": 4, "gpus": 2}}, "S").values()

    assert (cluster.namespace, cluster.gpu_resource, cluster.user) == ("slipway", "nvidia.com/gpu", 1000)
    assert (cluster.facts.max_nodes, cluster.facts.gpus) == (4, 2)
    for option, value in NEEDED.items():
        with pytest.raises(Misconfigured, match=f"S: gpu: {option} is missing"):
            clusters_from({"gpu": {**NEEDED, option: type(value)()}}, "S")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shared": "data"}, "'data' is not an absolute path"),
        ({"shared": "/other"}, "/other is on none of `volumes`"),
        ({"mounts": {"acct/c": "/other"}}, "mounts: acct/c: /other is on none of `volumes`"),
        ({"volumes": {"/data": "disk"}}, "write pvc:NAME, nfs:HOST:/EXPORT or azurefile:SECRET/SHARE"),
        ({"namespace": "Team A"}, "namespace has at most 63"),
        ({"tolerations": ["a b"]}, "KEY=VALUE:EFFECT"),
        ({"tolerations": ["a=b:Never"]}, "KEY=VALUE:EFFECT"),
        ({"priorities": {"top": "x"}}, "there is no 'top'"),
        ({"memory": "56GiB"}, "memory: '56GiB' is not an amount"),
        ({"cpus": "8 cores"}, "cpus: '8 cores' is not an amount"),
        ({"nodeSelector": {"gpu": "a b"}}, "nodeSelector: gpu: 'a b' is not the value of a label"),
        ({"nodeSelector": {"a b": "c"}}, "nodeSelector: 'a b' is not the name of a label"),
        ({"gpuResource": "nvidia gpu"}, "gpuResource: 'nvidia gpu' is not the name of a resource"),
        ({"pullSecrets": ["A_B"]}, "pullSecrets: 'A_B' is not the name of an object"),
        ({"priorities": {"high": "Top!"}}, "priorities: 'Top!' is not the name of an object"),
        ({"gpus": -1}, "gpus has to be at least 0"),
        ({"unreachableSeconds": -1}, "unreachableSeconds has to be at least 0"),
        ({"maxWallClock": "1 day"}, "not an ISO 8601 duration"),
        ({"colour": "red"}, "there is no option 'colour'"),
    ],
)
def test_a_mistake_is_named(options: Any, words: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        clusters_from({"gpu": {**NEEDED, **options}}, "S")

    assert str(caught.value).startswith("S: gpu")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"memory": "56Gi", "cpus": "0.5"},
        {"memory": "1e9", "cpus": "500m"},
        {"nodeSelector": {"cloud.example.com/accelerator": "nvidia-tesla-t4", "spot": ""}},
        {"gpuResource": "nvidia.com/mig-1g.10gb"},
        {"gpuResource": "gpu.intel.com/i915", "pullSecrets": ["registry.example"]},
    ],
)
def test_what_kubernetes_takes_is_taken(options: Any) -> None:
    assert clusters_from({"gpu": {**NEEDED, **options}}, "S")["gpu"].name == "gpu"


def test_a_name_that_is_no_label_is_refused() -> None:
    with pytest.raises(Misconfigured, match="bear its name"):
        clusters_from({"gpu cluster": NEEDED}, "S")
