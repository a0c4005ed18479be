"""Single faults in the stories of jobs that people change while they wait."""

from __future__ import annotations

import pytest

from tests.breadth import pairs
from tests.crash.chaos import Fault
from tests.crash.single_fault import FAULTS, case_name, check_turn
from tests.crash.stories import Story, play
from tests.crash.waiting.waiting_stories import CHANGED, HURRIED, PAUSED


@pytest.mark.parametrize("story", CHANGED, ids=lambda story: story.name)
async def test_without_faults_the_story_ends_well(story: Story) -> None:
    assert (await play(story, {})).violations == []


@pytest.mark.parametrize(("story", "fault"), pairs(CHANGED, FAULTS), ids=case_name)
async def test_any_single_fault_of_a_change_is_survived(story: Story, fault: tuple[Fault, int]) -> None:
    await check_turn(story, *fault)


@pytest.mark.parametrize(("story", "note", "place"), [(PAUSED, "paused", 2), (HURRIED, "priority", 1)])
async def test_a_paused_job_starts_last_and_a_hurried_one_before_the_next(
    story: Story, note: str, place: int
) -> None:
    run = await play(story, {})

    (changed,) = [job.id for job in run.jobs() if any(entry.note.startswith(note) for entry in job.history)]
    started = [order.target.job_id for order in run.world.engine.orders]
    assert (len(started), started.index(changed)) == (3, place)
