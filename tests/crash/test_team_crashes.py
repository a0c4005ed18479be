"""Every single fault in the stories of teams with a quota."""

from __future__ import annotations

import pytest

from tests.crash.chaos import Fault
from tests.crash.single_fault import FAULTS, check_survival, check_turn
from tests.crash.stories import Story
from tests.crash.team_stories import RECALLED_IN_VAIN, TEAMS


@pytest.mark.parametrize(("fault", "wake_after"), FAULTS, ids=lambda one: getattr(one, "name", str(one)))
@pytest.mark.parametrize("story", TEAMS, ids=lambda story: story.name)
async def test_any_single_fault_of_a_team_s_jobs_is_survived(
    story: Story, fault: Fault, wake_after: int
) -> None:
    await check_survival(story, fault, wake_after)


@pytest.mark.parametrize(("fault", "wake_after"), FAULTS, ids=lambda one: getattr(one, "name", str(one)))
async def test_any_single_fault_is_survived_where_a_recall_is_taken_back(
    fault: Fault, wake_after: int
) -> None:
    await check_turn(RECALLED_IN_VAIN, fault, wake_after)
