"""The engine on any real cluster, beyond the suite of the port: several nodes, evictions, waits."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import NamedTuple

import pytest
import pytest_asyncio

from local.kubernetes import Kubernetes
from shared.core.job import JobState, Reason
from shared.engines.kubernetes.engine import KubernetesEngine
from shared.engines.kubernetes.wire.version import Version, version_of
from tests.acceptance.kubernetes.jobs import Jobs, is_running
from tests.acceptance.kubernetes.on_cluster import engine_on
from tests.contract.kubernetes.foreign import foreign
from tests.contract.kubernetes.orders import is_over, order, until

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Place(NamedTuple):
    """A cluster: engines on it, whose options may differ, and the version of its server."""

    engine: Callable[..., KubernetesEngine]
    version: Version

    def needs(self, version: Version, what: str) -> None:
        """Skip the test on an older server."""
        if self.version < version:
            pytest.skip(f"{what} need Kubernetes {version}, and this is {self.version}")


@pytest_asyncio.fixture(loop_scope="session")
async def place(own: Kubernetes | None, jobs: Jobs) -> Place:
    version = version_of(await jobs.api.insist("GET", "/version"))
    if own is None:
        return Place(foreign().engine, version)
    return Place(lambda **options: engine_on(own, **options), version)


def _name() -> str:
    return f"n-{uuid.uuid4().hex[:12]}"


async def test_the_ranks_of_a_job_meet_and_end_with_the_first(place: Place) -> None:
    place.needs(Version(1, 31), "jobs with several nodes")
    engine = place.engine(gpus=0)
    gang = order("test $(wc -w <<< ${AZ_BATCH_HOST_LIST//,/ }) = 2", name=_name(), nodes=2)

    await engine.submit(gang)
    end = await until(engine, gang.target, is_over)
    await engine.forget(gang.target.cluster, [gang.target])
    await engine.close()

    assert (end.state, end.exit_code) == (JobState.SUCCEEDED, 0)


async def test_an_evicted_pod_is_a_preemption(place: Place, jobs: Jobs) -> None:
    place.needs(Version(1, 26), "marks of a disruption")
    engine = place.engine(gpus=0)
    one = order("sleep 600", name=_name())
    await engine.submit(one)
    pod = (await jobs.pod_of(one.target.name, is_running))["metadata"]["name"]

    await jobs.api.insist("POST", f"{jobs.path('pods', pod)}/eviction", _eviction(pod))
    end = await until(engine, one.target, is_over)
    await engine.forget(one.target.cluster, [one.target])
    await engine.close()

    assert (end.state, end.reason) == (JobState.FAILED, Reason.PREEMPTED)


async def test_a_job_that_fits_nowhere_says_why_it_waits_and_can_be_cancelled(place: Place) -> None:
    engine = place.engine(gpus=1000)
    one = order("true", name=_name())
    await engine.submit(one)
    waits = await until(engine, one.target, lambda observation: observation.why is not None)
    await engine.cancel(one.target)
    end = await until(engine, one.target, is_over)
    await engine.forget(one.target.cluster, [one.target])
    await engine.close()

    assert waits.why is not None
    assert (waits.why.word, end.state) == ("Unschedulable", JobState.CANCELLED)


def _eviction(pod: str) -> dict[str, object]:
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
