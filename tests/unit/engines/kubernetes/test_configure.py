"""How the settings reach the API servers of clusters."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.core.errors import Misconfigured
from shared.engines.kubernetes.configure import configure
from shared.engines.kubernetes.engine import KubernetesEngine
from shared.settings import Settings
from tests.unit.engines.kubernetes.wire.test_access import kubeconfig

BARE = {"shared": "/data", "volumes": {"/data": "pvc:data"}, "image": "python:3.13", "maxNodes": 3}


def settings(**values: str) -> Settings:
    return Settings({"SLIPWAY_STORAGE": "UseDevelopmentStorage=true", **values})


async def test_a_cluster_has_the_facts_of_its_options_and_the_server_of_its_kubeconfig() -> None:
    documents = json.dumps({"gpu": kubeconfig()})
    configured = configure({"gpu": BARE}, settings(SLIPWAY_KUBECONFIGS=documents))

    assert configured.clusters["gpu"].max_nodes == 3
    assert configured.faults == {}
    engine = configured.load()
    assert isinstance(engine, KubernetesEngine)
    assert engine.capabilities("gpu")["logs"].answer == "no"
    await engine.close()


def test_a_cluster_without_a_kubeconfig_is_that_of_our_own_pod_or_at_fault() -> None:
    configured = configure({"gpu": BARE}, settings())

    assert configured.faults["gpu"].startswith(
        "SLIPWAY_KUBECONFIGS lacks a kubeconfig for the cluster gpu, and this process does not run in a pod"
    )


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], "SLIPWAY_KUBECONFIGS must be an object"),
        ({"gpu": {}}, "SLIPWAY_KUBECONFIGS: gpu is not a kubeconfig"),
        ({"gpu": kubeconfig(user={"exec": {}})}, "SLIPWAY_KUBECONFIGS: gpu: its user logs in by exec"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_shows_no_secret(documents: Any, message: str) -> None:
    with pytest.raises(Misconfigured, match=message) as caught:
        configure({"gpu": BARE}, settings(SLIPWAY_KUBECONFIGS=json.dumps(documents)))
    assert "canary" not in str(caught.value)
