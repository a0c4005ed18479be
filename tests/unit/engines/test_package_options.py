"""The option `packages` of a cluster, the same on every engine."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.errors import Misconfigured
from shared.core.facts import ClusterFacts, Packages
from shared.engines.batch import cluster as batch
from shared.engines.batchai import facts as batchai
from shared.engines.kubernetes import cluster as kubernetes
from shared.engines.slurm import cluster as slurm

_KUBERNETES = {"shared": "/s", "volumes": {"/s": "pvc:x"}, "image": "i"}
_BATCH = {"url": "https://a.west.batch.azure.com", "pool": "p", "shared": "/s", "maxNodes": 2}
ENGINES: dict[str, Any] = {
    "slurm": lambda options: slurm.clusters_from(
        {"c": {"url": "https://head", "user": "u", "shared": "/s", **options}}, "S"
    ),
    "kubernetes": lambda options: kubernetes.clusters_from({"c": {**_KUBERNETES, **options}}, "S"),
    "batch": lambda options: batch.clusters_from({"c": {**_BATCH, **options}}, "S"),
    "batchai": lambda options: batchai.configured({"c": options}, "S"),
}


def facts(engine: str, packages: Any) -> ClusterFacts:
    cluster = ENGINES[engine]({"packages": packages})["c"]
    return cluster if isinstance(cluster, ClusterFacts) else cluster.facts


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_has_it(engine: str) -> None:
    packages = {"index": "https://pypi.example.org/simple", "proxy": "http://p:3128", "keep": "/kept"}

    assert facts(engine, packages).packages == Packages(**packages)
    assert facts(engine, {}).packages == Packages()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("packages", "words"),
    [
        ({"cache": "/x"}, "there is no option 'cache'; there are index, proxy, keep"),
        ({"index": 1}, "has the wrong type"),
        ({"index": "pypi.example.org"}, "index must be an address"),
        ({"index": "https://pypi.example.org/$HOME"}, "index must be an address"),
        (
            {"index": "https://user:pass@pypi.example.org/simple"},
            "index is shown, so it cannot hold a password",
        ),
        ({"proxy": "http://user@proxy"}, "proxy is shown"),
        ({"keep": "kept"}, "'kept' is not an absolute path"),
        ({"keep": "/a\n"}, "is not an absolute path"),
    ],
)
def test_a_mistake_is_named(engine: str, packages: Any, words: str) -> None:
    with pytest.raises(Misconfigured, match=words) as raised:
        facts(engine, packages)

    assert "pass@" not in str(raised.value)
