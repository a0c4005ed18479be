"""One fault at every call of a story."""

from __future__ import annotations

from zlib import crc32

from tests.breadth import every_few
from tests.crash.chaos import Fault
from tests.crash.stories import Story, play

#: The rounds until what sleeps wakes up, and until what is late happens; no other fault has to do with them.
_WAKES = {Fault.LATE: (1, 4), Fault.ZOMBIE: (1, 4)}
#: Each fault, and the rounds until its worker wakes up.
FAULTS = [(fault, wake_after) for fault in Fault for wake_after in _WAKES.get(fault, (1,))]

_counted: dict[tuple[str, int], int] = {}


async def _calls(story: Story, wake_after: int) -> int:
    """How many calls the story makes without faults: the same for every fault, so it is counted once."""
    key = (story.name, wake_after)
    if key not in _counted:
        _counted[key] = len((await play(story, {}, wake_after=wake_after)).chaos.calls)
    return _counted[key]


async def check_survival(story: Story, fault: Fault, wake_after: int) -> None:
    """Play the story with the fault at each of its calls, and assert that the promise was kept."""
    calls = await _calls(story, wake_after)
    number = crc32(story.name.encode()) + FAULTS.index((fault, wake_after))
    for n in every_few(range(1, calls + 1), number):
        run = await play(story, {n: fault}, wake_after=wake_after)
        assert run.violations == [], f"{fault} at call {n}, {run.chaos.calls[n - 1]}"
