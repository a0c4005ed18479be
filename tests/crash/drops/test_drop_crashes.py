"""Single faults in the stories of drops: events alone bring each, no matter what dies.

The faults share the calls in turn, since some stories have hundreds; with `--every-fault` each meets all.
"""

from __future__ import annotations

import pytest

from tests.breadth import pairs
from tests.crash.chaos import Fault
from tests.crash.drops.drop_stories import DROPS
from tests.crash.single_fault import FAULTS, case_name, check_turn
from tests.crash.stories import Story, play


@pytest.mark.parametrize("story", DROPS, ids=lambda story: story.name)
async def test_without_faults_the_story_ends_well(story: Story) -> None:
    assert (await play(story, {})).violations == []


@pytest.mark.parametrize(("story", "fault"), pairs(DROPS, FAULTS), ids=case_name)
async def test_any_single_fault_of_a_drop_is_survived(story: Story, fault: tuple[Fault, int]) -> None:
    await check_turn(story, *fault)
