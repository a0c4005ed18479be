"""Stories of jobs that keep their nodes after a failure, with their expected results."""

from __future__ import annotations

import itertools
from datetime import timedelta

from shared.core.errors import Unavailable
from shared.core.ports import Ports
from shared.core.relations.hold import held_end
from shared.operate.ends.release import release
from tests.crash.harness import Message, Run
from tests.crash.invariants.held_jobs import Holds
from tests.crash.stories import HOOK, Story, message, records
from tests.unit.world import job_json


def _begin(run: Run, *, loses_nodes: bool = False) -> None:
    run.world.policy(max_hold=timedelta(hours=1))
    run.holds = Holds(loses_nodes)
    run.renew()
    run.messages.append(message({"spec": job_json(), "notify": [HOOK], "hold": "PT30M"}, "m1"))


def _recorded(run: Run) -> None:
    _begin(run)
    run.pushes = records


def _released(run: Run) -> None:
    """A person releases the job once they know that it is held, and repeats that until it is answered."""
    _begin(run)
    looks = itertools.count()

    async def ask(ports: Ports) -> None:
        jobs = run.jobs()
        if not [job for job in jobs if held_end(job.hold)] and next(looks) < 20:
            raise Unavailable("it is not held yet")  # the message comes again
        for job in jobs:
            await release(ports, job.id)

    run.messages.append(Message(ask))


HELD = Story("a job that fails and keeps its node", _begin)
LOST = Story("a job that loses the node that it keeps", lambda run: _begin(run, loses_nodes=True))
RELEASED = Story("a job that is held, and released", _released)
HELD_JOBS = (
    HELD,
    LOST,
    RELEASED,
    Story("a job that is held, whose nodes record that, and often too early", _recorded),
    Story("a job that keeps its node, with two passes at once", _begin, twice=True),
)
