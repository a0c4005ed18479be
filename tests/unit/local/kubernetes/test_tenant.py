"""What Slipway's account on the Kubernetes of this machine may do."""

from __future__ import annotations

from local.kubernetes.tenant import NAME, rules
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.provision import objects

CLUSTER = KubernetesCluster(
    "gpu", shared="/data", volumes={"/data": "pvc:data"}, image="python:3.13", namespace=NAME
)


def test_its_role_is_the_one_that_setup_makes() -> None:
    """A right that is missing in one of the two would be missed by no test that runs here."""
    (role,) = [one.body for one in objects(CLUSTER) if one.body["kind"] == "Role"]

    assert role["metadata"]["name"] == NAME
    assert role["rules"] == rules()
