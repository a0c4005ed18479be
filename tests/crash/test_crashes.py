"""Every single fault at every call of every story, on the real code: nothing lost, nothing twice."""

from __future__ import annotations

import pytest

from tests.crash.chaos import Fault
from tests.crash.single_fault import FAULTS, check_survival
from tests.crash.stories import JOB_SWEEPS, STORIES, Story, play


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
async def test_without_faults_the_story_ends_well(story: Story) -> None:
    run = await play(story, {})
    assert run.violations == []
    assert len(run.chaos.calls) > 5


@pytest.mark.parametrize(("fault", "wake_after"), FAULTS, ids=lambda one: getattr(one, "name", str(one)))
@pytest.mark.parametrize(
    "story", [story for story in STORIES if story not in JOB_SWEEPS], ids=lambda story: story.name
)
async def test_any_single_fault_is_survived(story: Story, fault: Fault, wake_after: int) -> None:
    await check_survival(story, fault, wake_after)
