"""A cluster whose nodes share a container: faults of the container, the wire, nodes and our processes."""

from __future__ import annotations

import itertools
import random

import pytest

from tests.breadth import in_turn, pairs, size
from tests.crash.batch.blobs import BlobAzure, NodeFault
from tests.crash.batch.container import AppFault
from tests.crash.batch.nodes import Cut
from tests.crash.batch.run import BatchRun, play_on_blobs
from tests.crash.batch.test_batch import ABSENCES, GANG, STORIES_ON_BATCH
from tests.crash.batch.wire import Wire
from tests.crash.chaos import Fault
from tests.crash.single_fault import case_name
from tests.crash.stories import ARCHIVED, CANCELLED, STORIES, Story

#: The courses that one job may take, with what remains of it.
_FEW = (STORIES[0], GANG, CANCELLED, ARCHIVED)
_plain: dict[str, BlobAzure] = {}


def _name(story: Story) -> str:
    return story.name


def _model(run: BatchRun) -> BlobAzure:
    assert isinstance(run.wire.model, BlobAzure)
    return run.wire.model


async def _undisturbed(story: Story) -> BlobAzure:
    """The story without faults, played once for all faults."""
    if story.name not in _plain:
        _plain[story.name] = _model(await play_on_blobs(story))
    return _plain[story.name]


@pytest.mark.parametrize("story", STORIES_ON_BATCH, ids=_name)
async def test_without_faults_the_story_ends_well(story: Story) -> None:
    run = await play_on_blobs(story)
    assert run.violations == []


@pytest.mark.parametrize(("story", "fault"), pairs(_FEW, NodeFault), ids=lambda one: one.name)
async def test_any_single_fault_of_the_container_or_of_a_node_that_uses_it_is_survived(
    story: Story, fault: NodeFault
) -> None:
    calls = len((await _undisturbed(story)).stored)
    kinds = list(itertools.product(NodeFault, (1, 40)))
    for lives in (1, 40):
        for n in in_turn(range(1, calls + 1), kinds.index((fault, lives)), len(kinds), _FEW.index(story)):
            run = await play_on_blobs(story, node_faults={n: fault}, lives=lives)
            assert run.violations == [], f"{fault} at {_model(run).stored[n - 1]}, call {n}"


@pytest.mark.parametrize(("story", "fault"), pairs(_FEW, AppFault), ids=lambda one: one.name)
async def test_any_single_fault_of_the_container_for_the_app_is_survived(
    story: Story, fault: AppFault
) -> None:
    calls = len((await _undisturbed(story)).container.calls)
    kind = list(AppFault).index(fault)
    for n in in_turn(range(1, calls + 1), kind, len(AppFault), _FEW.index(story)):
        run = await play_on_blobs(story, app_faults={n: fault})
        assert run.violations == [], f"{fault} at {_model(run).container.calls[n - 1]}, call {n}"


@pytest.mark.parametrize(("cut", "lives"), pairs(Cut, (0, 1, 40)), ids=case_name)
async def test_an_attempt_that_is_cut_off_is_followed_by_one_or_answers_for_it(cut: Cut, lives: int) -> None:
    run = await play_on_blobs(STORIES[0], cut=cut, lives=lives)
    assert run.violations == []
    row = (0, 1, 40).index(lives) + 3 * list(Cut).index(cut)
    for kind, fault in enumerate(NodeFault):
        for n in in_turn(range(1, 24), kind, len(NodeFault), row):
            run = await play_on_blobs(STORIES[0], node_faults={n: fault}, cut=cut, lives=lives)
            assert run.violations == [], f"{fault} at call {n}"


@pytest.mark.parametrize("block", range(size(6, 1)))
async def test_random_schedules_with_faults_on_all_sides_are_survived(block: int) -> None:
    for seed in range(20 * block, 20 * block + size(20, 5, 3)):
        dice = random.Random(seed)
        wire = {n: dice.choice(list(Wire)) for n in dice.sample(range(1, 30), dice.randint(0, 4))}
        plan = {n: dice.choice(list(Fault)) for n in dice.sample(range(1, 60), dice.randint(0, 2))}
        node_faults = {n: dice.choice(list(NodeFault)) for n in dice.sample(range(1, 30), dice.randint(1, 4))}
        app_faults = {n: dice.choice(list(AppFault)) for n in dice.sample(range(1, 6), dice.randint(0, 1))}
        story = dice.choice(STORIES_ON_BATCH)
        cut = dice.choice([None, None, *Cut]) if story.started == 1 else None
        model = {"cut": cut, "lives": dice.choice([0, 2, 40]), "absence": dice.choice([range(0), *ABSENCES])}
        run = await play_on_blobs(
            story,
            plan,
            wire,
            node_faults=node_faults,
            app_faults=app_faults,
            wake_after=dice.randint(1, 8),
            **model,
        )
        assert run.violations == [], f"seed {seed}, {story.name}"
