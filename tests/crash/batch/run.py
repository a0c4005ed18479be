"""The real dispatcher and the real Batch engine, over HTTP to a model of the service; faults on all sides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.core.job import Job
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.engine import BatchEngine
from shared.engines.batch.storage.access import Access, SharedKey
from shared.engines.leftovers import FORGET
from shared.engines.proofs import Proofs
from tests.crash.batch.blobs import BlobAzure
from tests.crash.batch.container import ACCOUNT, AppFault, Container
from tests.crash.batch.nodes import Azure
from tests.crash.batch.wire import BatchWire, Wire
from tests.crash.chaos import Fault
from tests.crash.engine_run import EngineRun
from tests.crash.stories import Story
from tests.unit.engines.batch.service import KEY

_NODES = 4
#: Rounds for the task that removes records, which may wait for a node.
_LATER = 12


class BatchRun(EngineRun[BatchWire]):
    """One world whose cluster is the model."""

    async def _wake(self) -> None:
        await super()._wake()
        self.wire.happen_late()

    def copies(self) -> int:
        """One more for each time that an attempt was cut off."""
        return 1 + self.wire.model.splits

    def check_cluster(self, jobs: list[Job], started: int | None) -> list[str]:
        """No job ran twice at once or finished twice; every job that was not cancelled finished."""
        return super().check_cluster(jobs, started) + self._remains()

    def _remains(self) -> list[str]:
        """What archived jobs have left behind some time later."""
        if not self.is_archived():
            return []
        for _ in range(_LATER):
            self.advance()
        model = self.wire.model
        tasks = [name for tasks in model.jobs.values() for name in tasks if not name.startswith(FORGET)]
        return [
            *(f"the task of {name} is left" for name in tasks),
            *(f"the records of {name} are left" for name in model.records()),
        ]


async def play(
    story: Story,
    plan: Mapping[int, Fault] | None = None,
    wire: Mapping[int, Wire] | None = None,
    *,
    wake_after: int = 3,
    **model: Any,
) -> BatchRun:
    """Run a story to its end, with faults of our processes (`plan`) and of the wire; `model`: its options."""
    return await _played(story, BatchWire(Azure(**model), wire), plan or {}, wake_after, shared="/shared")


async def play_on_blobs(
    story: Story,
    plan: Mapping[int, Fault] | None = None,
    wire: Mapping[int, Wire] | None = None,
    *,
    app_faults: Mapping[int, AppFault] | None = None,
    wake_after: int = 3,
    **model: Any,
) -> BatchRun:
    """The same with a container that nodes and app share. `app_faults`: number of a request → its fault."""
    azure = BlobAzure(**model, container=Container(app_faults or {}))
    async with azure.container.running() as url:
        with azure.timed():
            return await _played(story, BatchWire(azure, wire), plan or {}, wake_after, blobs=url)


async def _played(
    story: Story, server: BatchWire, plan: Mapping[int, Fault], wake_after: int, **options: Any
) -> BatchRun:
    azure = server.model
    async with server.running() as url:
        mounts = {"acct/scripts": "/shared/scripts"}
        cluster = BatchCluster("dev", url=url, pool="t4", max_nodes=_NODES, mounts=mounts, **options)
        access = Access(cluster, key=SharedKey(ACCOUNT, "a2V5"))
        containers, proofs = {"dev": access}, Proofs(("the deployment's",))
        engine = BatchEngine(
            {"dev": cluster}, {"dev": KEY}, containers=containers, clock=azure.now, proofs=proofs
        )
        try:
            run = BatchRun(engine, server, plan)
            await run.play(story, wake_after)
        finally:
            await engine.close()
    return run
