"""After any story an audit lists no difference, at any age: all ended well, so each line would be untrue."""

from __future__ import annotations

import pytest

from shared.intake.drops.inventory import inventory
from shared.lifecycle.archive import archive
from shared.operate.audit import audit
from tests.crash.drops.drop_stories import DROPS
from tests.crash.stories import STORIES, Story, play

#: Seconds: past the grace of an audit; past the longest wait of a try; past a day; past the retention.
_LATER = (400, 4_000, 90_000, 40 * 86_400)


@pytest.mark.parametrize("story", [*STORIES, *DROPS], ids=lambda story: story.name)
async def test_what_ended_well_is_no_difference(story: Story) -> None:
    run = await play(story, {}, wake_after=1)

    for seconds in _LATER:
        run.world.pass_time(seconds)
        report = await audit(run.world.ports)
        assert (report.differences, report.unknown) == ([], []), f"{seconds} s later"
        await run.world.make_pass()
        await inventory(run.world.ports)
        await archive(run.world.ports)
