"""The same of the stories of sweeps of jobs: they are long, so their module has a process of its own."""

from __future__ import annotations

import pytest

from tests.crash.chaos import Fault
from tests.crash.single_fault import FAULTS, check_survival
from tests.crash.stories import JOB_SWEEPS, Story


@pytest.mark.parametrize(("fault", "wake_after"), FAULTS, ids=lambda one: getattr(one, "name", str(one)))
@pytest.mark.parametrize("story", JOB_SWEEPS, ids=lambda story: story.name)
async def test_any_single_fault_of_a_sweep_is_survived(story: Story, fault: Fault, wake_after: int) -> None:
    await check_survival(story, fault, wake_after)
