"""The stories of the crash harness without a fault: what a mutant does to a whole run."""

from __future__ import annotations

import pytest

from tests.crash.drops.drop_stories import DROPS
from tests.crash.stories import STORIES, Story, play


@pytest.mark.parametrize("story", [*STORIES, *DROPS], ids=lambda story: story.name)
async def test_without_faults_the_story_ends_well(story: Story) -> None:
    assert (await play(story, {})).violations == []
