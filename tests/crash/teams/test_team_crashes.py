"""Every single fault in the stories of teams with a quota."""

from __future__ import annotations

import pytest

from tests.breadth import pairs
from tests.crash.chaos import Fault
from tests.crash.single_fault import FAULTS, case_name, check_survival, check_turn
from tests.crash.stories import Story
from tests.crash.teams.team_stories import RECALLED_IN_VAIN, TEAMS


@pytest.mark.parametrize(("story", "fault"), pairs(TEAMS, FAULTS), ids=case_name)
async def test_any_single_fault_of_a_team_s_jobs_is_survived(story: Story, fault: tuple[Fault, int]) -> None:
    await check_survival(story, *fault)


@pytest.mark.parametrize("fault", FAULTS, ids=case_name)
async def test_any_single_fault_is_survived_where_a_recall_is_taken_back(fault: tuple[Fault, int]) -> None:
    await check_turn(RECALLED_IN_VAIN, *fault)
