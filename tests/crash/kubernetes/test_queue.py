"""Jobs of a LocalQueue, whose controller comes late: what was cancelled holds nothing after its end."""

from __future__ import annotations

import pytest

from tests.breadth import pairs
from tests.crash.chaos import Fault
from tests.crash.kubernetes.run import play
from tests.crash.kubernetes.test_kubernetes import GANG
from tests.crash.kubernetes.wire import Wire
from tests.crash.single_fault import case_name, check_processes, check_wire
from tests.crash.stories import CANCELLED, STORIES

#: Rounds until a controller of Kueue takes over: before the job, in its life, and after its end.
_ROUNDS = (0, 3, 12, 40)


@pytest.mark.parametrize("behind", _ROUNDS)
async def test_without_faults_the_stories_end_well(behind: int) -> None:
    for story in (STORIES[0], GANG, CANCELLED):
        run = await play(story, behind=behind)
        assert run.deviations() == []


@pytest.mark.parametrize(("fault", "behind"), pairs(list(Wire), _ROUNDS), ids=case_name)
async def test_any_single_fault_of_the_wire_is_survived(fault: Wire, behind: int) -> None:
    await check_wire(play, CANCELLED, fault, _ROUNDS.index(behind), behind=behind)


@pytest.mark.parametrize(("fault", "behind"), pairs(list(Fault), _ROUNDS), ids=case_name)
async def test_any_single_fault_of_our_processes_is_survived(fault: Fault, behind: int) -> None:
    await check_processes(play, CANCELLED, fault, _ROUNDS.index(behind), behind=behind)
