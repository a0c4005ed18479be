"""Stories of idle jobs, with their expected results."""

from __future__ import annotations

from dataclasses import replace

from shared.core.facts import ClusterFacts
from tests.crash.harness import Run
from tests.crash.invariants.idle_jobs import GRACE, LIMIT, Idles
from tests.crash.stories import HOOK, Story, message
from tests.unit.world import CLUSTER, Engines, job_json


def _begin(run: Run, *, works_again: bool) -> None:
    cluster = replace(CLUSTER, facts=ClusterFacts(gpus=1))
    run.world.use(engines=Engines(run.world.engine, {cluster.name: cluster}))
    run.world.policy(idle_gpus=LIMIT, idle_grace=GRACE)
    run.idles = Idles(works_again)
    run.renew()
    run.messages.append(message({"spec": job_json(), "notify": [HOOK]}, "m1"))


IDLE = Story("a job that does nothing", lambda run: _begin(run, works_again=False))
WORKS_AGAIN = Story("a job that works again after its warning", lambda run: _begin(run, works_again=True))
IDLE_TWICE = Story("a job that does nothing, with two passes at once", IDLE.begin, twice=True)
IDLE_JOBS = (IDLE, WORKS_AGAIN, IDLE_TWICE)
