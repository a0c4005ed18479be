"""Every single fault at every call of every story, on the real code: nothing is lost or happens twice."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.breadth import pairs
from tests.crash.chaos import Fault
from tests.crash.single_fault import FAULTS, case_name, check_survival
from tests.crash.stories import JOB_SWEEPS, STORIES, Story, play
from tests.unit.world import World


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
async def test_without_faults_the_story_ends_well(story: Story) -> None:
    run = await play(story, {})
    assert run.violations == []
    assert len(run.chaos.calls) > 5


async def test_the_message_of_a_host_that_died_comes_ten_minutes_later() -> None:
    story, begin = STORIES[0], World().clock()
    dead = [await play(story, {1: fault}) for fault in (Fault.BEFORE, Fault.AFTER)]

    worker, host = (run.world.clock() - begin for run in dead)
    assert [run.violations for run in dead] == [[], []]
    assert host - worker >= timedelta(seconds=600)


@pytest.mark.parametrize(
    ("story", "fault"), pairs((story for story in STORIES if story not in JOB_SWEEPS), FAULTS), ids=case_name
)
async def test_any_single_fault_is_survived(story: Story, fault: tuple[Fault, int]) -> None:
    await check_survival(story, *fault)
