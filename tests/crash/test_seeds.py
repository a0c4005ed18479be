"""Two thousand random schedules, fifty, or twenty; `make chaos-sim SEEDS=…` runs any number of others."""

from __future__ import annotations

import pytest

from tests.breadth import size
from tests.crash.simulate import simulate_block


@pytest.mark.parametrize("first", range(0, size(2000, 50), 50))
def test_random_schedules_with_duplicates_and_many_faults_are_survived(first: int) -> None:
    assert simulate_block(first, size(50, 50, 20)) == {}
