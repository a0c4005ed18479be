"""Single faults in the stories of held jobs: with `--all`, each call meets one fault."""

from __future__ import annotations

import pytest

from tests.breadth import pairs
from tests.crash.chaos import Fault
from tests.crash.hold.hold_stories import HELD_JOBS
from tests.crash.single_fault import FAULTS, case_name, check_turn
from tests.crash.stories import Story, play


@pytest.mark.parametrize("story", HELD_JOBS, ids=lambda story: story.name)
async def test_without_faults_the_story_ends_well(story: Story) -> None:
    assert (await play(story, {})).violations == []


@pytest.mark.parametrize(("story", "fault"), pairs(HELD_JOBS, FAULTS), ids=case_name)
async def test_any_single_fault_of_a_held_job_is_survived(story: Story, fault: tuple[Fault, int]) -> None:
    await check_turn(story, *fault)
