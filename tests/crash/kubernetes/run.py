"""The real dispatcher and the real Kubernetes engine, over HTTP to a model cluster; faults on all sides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.core.job import Job
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.engine import KubernetesEngine
from shared.engines.kubernetes.wire.access import Access
from shared.engines.kubernetes.wire.bearer import FixedToken
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.leftovers import FORGET
from shared.engines.proofs import Proofs
from tests.crash.chaos import Fault
from tests.crash.engine_run import EngineRun
from tests.crash.kubernetes.pods import QUEUE, Cluster
from tests.crash.kubernetes.wire import KubernetesWire, Wire
from tests.crash.stories import Story

#: Rounds for the Job that removes records, and for a lost node.
_LATER = 60


class KubernetesRun(EngineRun[KubernetesWire]):
    """One world whose cluster is the model."""

    async def _wake(self) -> None:
        await super()._wake()
        self.wire.happen_late()

    def copies(self) -> int:
        """One more if nodes are lost."""
        return 2 if self.wire.model.loses else 1

    def check_cluster(self, jobs: list[Job], started: int | None) -> list[str]:
        """No job ran twice at once or finished twice; every job that was not cancelled finished."""
        for _ in range(_LATER):
            self.advance()  # anything that can still begin does so now
        held = [f"{name} holds pods or quota after its end" for name in self.wire.model.held()]
        return super().check_cluster(jobs, started) + self._remains() + held

    def _remains(self) -> list[str]:
        """Jobs that disappeared too early, and what archived ones have left behind."""
        model = self.wire.model
        names = {one["metadata"]["name"] for one in model.store.all("jobs")}
        if not self.is_archived():
            lost_names = sorted(set(model.began) - names) if not self.archives else []
            return [f"the Job {name} is gone, and would be made again" for name in lost_names]
        pods = [one["metadata"] for one in model.store.all("pods")]
        return [
            *(f"the Job {name} is left" for name in names if not name.startswith(FORGET)),
            *(f"the records of {name} are left" for name in model.claims),
            *(f"{one['metadata']['name']} is left" for one in model.store.all("secrets")),
            *(
                f"the pod {one['name']} is left without an owner"
                for one in pods
                if not one.get("ownerReferences")
            ),
        ]

    def deviations(self) -> list[str]:
        """Includes Secrets that remain after a job's recorded end, unless removing them failed (`forget`)."""
        secrets = self.wire.model.store.all("secrets")
        return [
            *super().deviations(),
            *(f"the Secret {one['metadata']['name']} is left" for one in secrets),
        ]


async def play(
    story: Story,
    plan: Mapping[int, Fault] | None = None,
    wire: Mapping[int, Wire] | None = None,
    *,
    wake_after: int = 3,
    **model: Any,
) -> KubernetesRun:
    """Run a story to its end, with faults of our processes (`plan`) and of the wire; `model`: its options."""
    cluster = Cluster(**model)
    server = KubernetesWire(cluster, wire)
    async with server.running() as url:
        options = KubernetesCluster(
            "dev",
            shared="/shared",
            volumes={"/shared": "pvc:shared"},
            image="python:3.13",
            max_nodes=4,
            mounts={"acct/scripts": "/shared/scripts"},
            gpus=1,
            queue=QUEUE if cluster.kueue.is_installed else "",
        )
        client = KubernetesClient(Access(url), FixedToken("t"))
        proofs = Proofs(("the deployment's",))
        engine = KubernetesEngine({"dev": options}, {"dev": client}, clock=cluster.now, proofs=proofs)
        try:
            run = KubernetesRun(engine, server, plan or {})
            await run.play(story, wake_after)
        finally:
            await engine.close()
    return run
