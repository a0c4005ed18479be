"""`slipway preempt`: which nodes are meant."""

import pytest

from slipway.commands.preempt import of_cluster
from slipway.failure import Failure

NODE = {"id": "tvm-1", "cluster": "/subscriptions/s/clusters/dev-cluster-00"}


def test_the_nodes_of_a_cluster_are_chosen_by_its_name() -> None:
    assert of_cluster("", [NODE]) == [NODE]
    assert of_cluster("DEV-cluster-00", [NODE]) == [NODE]
    assert of_cluster("any", []) == []


def test_a_cluster_without_nodes_is_reported_with_those_that_have_some() -> None:
    with pytest.raises(Failure, match="no cluster nope has nodes now; nodes are of: dev-cluster-00"):
        of_cluster("nope", [NODE])
