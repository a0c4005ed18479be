"""The demo where it cannot run."""

from __future__ import annotations

import pytest

from slipway.failure import Failure
from slipway.stack.demo import run


def test_a_cluster_whose_jobs_have_one_node_is_refused_with_what_works_there() -> None:
    with pytest.raises(Failure, match="use `slipway up --example --cluster kubernetes`"):
        run("kubernetes")
