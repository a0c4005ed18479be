"""The same for the stories of job sweeps, which are long, so that their module has its own process."""

from __future__ import annotations

import pytest

from tests.breadth import pairs
from tests.crash.chaos import Fault
from tests.crash.single_fault import FAULTS, case_name, check_survival
from tests.crash.stories import JOB_SWEEPS, Story


@pytest.mark.parametrize(("story", "fault"), pairs(JOB_SWEEPS, FAULTS), ids=case_name)
async def test_any_single_fault_of_a_sweep_is_survived(story: Story, fault: tuple[Fault, int]) -> None:
    await check_survival(story, *fault)
