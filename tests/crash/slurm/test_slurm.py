"""The Slurm engine in the harness: with any fault of the wire and our processes, nothing runs twice."""

from __future__ import annotations

import random

import pytest

from tests.breadth import pairs, size
from tests.crash.chaos import Fault
from tests.crash.single_fault import case_name, check_cut, check_processes, check_wire
from tests.crash.slurm.run import play
from tests.crash.slurm.slurmrestd import NEW, OLD, Wire
from tests.crash.stories import BROKEN, CANCELLED, REQUEUED, STORIES, Story

#: The harness can make a job fail or requeue only with the engine in memory.
_STORIES = tuple(story for story in STORIES if story not in (BROKEN, REQUEUED))


@pytest.mark.parametrize(("story", "version"), pairs(_STORIES, [OLD, NEW]), ids=case_name)
async def test_without_faults_the_story_ends_well(story: Story, version: str) -> None:
    run = await play(story, version=version)
    assert run.violations == []


@pytest.mark.parametrize(("story", "version"), pairs(_STORIES, [NEW, OLD]), ids=case_name)
async def test_another_user_who_imitates_every_job_changes_nothing(story: Story, version: str) -> None:
    run = await play(story, version=version, imitated=True)
    assert run.violations == []


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_nodes_that_do_not_boot_cost_a_job_no_retry(version: str) -> None:
    run = await play(STORIES[0], version=version, unbooted=5)
    assert run.violations == []
    (job,) = run.jobs()
    assert (job.attempt, job.spent.infrastructure) == (6, 0)


@pytest.mark.parametrize(("fault", "lives"), pairs([None, *Wire], (0, 1, 40)), ids=case_name)
async def test_an_attempt_that_is_cut_off_and_lives_on_is_followed_by_one_or_answers_for_it(
    fault: Wire | None, lives: int
) -> None:
    await check_cut(play, fault, 11, (0, 1, 40).index(lives), lives=lives, forgets=0.0)


#: Stories with faults; a quick run takes every other one with an eager Slurm.
_SINGLE_FAULTS = [
    (story, fault, (row + row // len(Wire) + way) % 2 == 1)
    for row, (story, fault) in enumerate(pairs(_STORIES, Wire))
    for way in range(size(2, 1))
]


@pytest.mark.parametrize(("story", "fault", "eager"), _SINGLE_FAULTS, ids=case_name)
async def test_any_single_fault_of_the_wire_is_survived(story: Story, fault: Wire, eager: bool) -> None:
    await check_wire(play, story, fault, _STORIES.index(story) + eager, eager=eager)


@pytest.mark.parametrize("forgets", [0.0, 300.0])
@pytest.mark.parametrize("fault", list(Fault), ids=lambda fault: fault.name)
async def test_any_single_fault_of_our_processes_around_the_engine_is_survived(
    fault: Fault, forgets: float
) -> None:
    for row, story in enumerate((STORIES[0], STORIES[2], CANCELLED)):
        await check_processes(play, story, fault, row + 2 * bool(forgets), forgets=forgets)


@pytest.mark.parametrize("block", range(0, size(60, 20), 20))
async def test_random_schedules_with_faults_on_both_sides_are_survived(block: int) -> None:
    for seed in range(block, block + size(20, 20, 8)):
        dice = random.Random(seed)
        wire = {n: dice.choice(list(Wire)) for n in dice.sample(range(1, 16), dice.randint(1, 4))}
        plan = {n: dice.choice(list(Fault)) for n in dice.sample(range(1, 60), dice.randint(0, 3))}
        story = dice.choice(_STORIES)
        run = await play(
            story,
            plan,
            wire,
            version=dice.choice([OLD, NEW]),
            eager=dice.random() < 0.5,
            forgets=dice.choice([0.0, 300.0]),
            wake_after=dice.randint(1, 8),
            imitated=dice.random() < 0.3,
            lives=dice.choice([None, None, 0, 2, 40]) if story.started == 1 else None,
        )
        assert run.violations == [], f"seed {seed}, {story.name}"
