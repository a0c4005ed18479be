"""The attempts on one cluster, as Jobs. Each is created once, even if an answer is lost."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from shared.core.each import each
from shared.core.engine import ClusterView, Observation, Order
from shared.core.errors import NotFound
from shared.core.job import JobState, Target
from shared.core.relations.entrance import Entrance, entrance
from shared.engines.kubernetes.bulk_status import BulkStatus
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.job.forget import forgetting
from shared.engines.kubernetes.job.pod import MAIN
from shared.engines.kubernetes.job.request import belongings, job, programs
from shared.engines.kubernetes.looks import Looks
from shared.engines.kubernetes.namespace import Namespace, index_of
from shared.engines.kubernetes.nodes import unseen, view
from shared.engines.kubernetes.translation.conditions import condition
from shared.engines.kubernetes.translation.observations import CANCELLED, was_ended_by_us
from shared.engines.kubernetes.translation.silence import GIVEN_UP
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.kubernetes.wire.errors import LacksRight
from shared.engines.kubernetes.wire.objects import TOKEN, Creation, make, refuse_dropped, token_of
from shared.engines.leftovers import FORGET, remove
from shared.engines.shared_records import Records

#: The state column of a Job that has ended.
_END_WORDS = ("Complete", "Failed")
#: Seconds after which the programs are made again, if others have deleted them: no pod starts without.
_PROGRAMS = 300.0


class Attempts:
    """The attempts on one cluster. `clock` gives Unix time."""

    def __init__(
        self,
        cluster: KubernetesCluster,
        client: KubernetesClient,
        records: Records,
        clock: Callable[[], float],
    ) -> None:
        self._cluster, self._client, self._records, self._clock = cluster, client, records, clock
        self._namespace = Namespace(cluster, client)
        self._looks = Looks(cluster, self._namespace, records, clock)
        self._bulk = BulkStatus(cluster, self._namespace, self._looks, clock)
        self._programs_at: float | None = None

    async def submit(self, order: Order) -> Observation:
        """Create the attempt's Job, then the objects that its pods wait for.

        An existing Job with the same name and token counts as success.
        """
        target, order = order.target, self._records.proofs.with_keys(order)
        request = job(self._cluster, order, await self._namespace.version())
        await self._make_programs()
        created = await make(self._client, request.path, request.body)
        if created.is_new:
            await self._refuse_dropped(created, target)
        elif was_ended_by_us(created.object) or _is_over(created.object):
            return await self._looks.observed(
                created.object, target
            )  # a Job that was cancelled or has ended gets no Secret, so none of its pods can start
        elif created.dropped and not await self._namespace.has_secret(target.name):
            await self._refuse_dropped(created, target)  # the first answer was lost, and no pod has started
        parts = belongings(self._cluster, order, created.object["metadata"]["uid"], uuid.uuid4().hex)
        for one in await each(parts, lambda part: make(self._client, part.path, part.body)):
            if one.is_new:
                refuse_dropped(one, target.name)
        self._bulk.remember(target)
        if created.is_new:
            return Observation(JobState.QUEUED, handle=self._looks.handle(target))
        return await self._looks.observed(created.object, target)

    async def status(self, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """Lists for all attempts; changed ones are read one by one."""
        return await self._bulk.status(targets)

    async def at_work(self) -> Mapping[str, str]:
        """Every Job with a token that has not ended, and each that has pods although its end was recorded."""
        if (await self._namespace.version()).has_words:
            rows = await self._namespace.job_rows(with_metadata=True)
            tokens = {row.name: row.annotation(TOKEN) for row in rows}
            over = {row.name for row in rows if row.words.get("Status") in _END_WORDS}
            stopped = {row.name for row in rows if row.annotation(CANCELLED) or row.annotation(GIVEN_UP)}
        else:
            jobs = await self._namespace.jobs()
            tokens = {str(one["metadata"]["name"]): token_of(one) for one in jobs}
            over = {str(one["metadata"]["name"]) for one in jobs if _is_over(one)}
            stopped = {str(one["metadata"]["name"]) for one in jobs if was_ended_by_us(one)}
        with_pods = await self._namespace.names_with_pods()
        over |= stopped - with_pods  # what was cancelled or given up gets no other
        others = sorted(with_pods - tokens.keys())
        tokens |= dict(zip(others, await each(others, self._token), strict=True))
        return {name: token for name, token in tokens.items() if token and name not in over}

    async def _token(self, name: str) -> str:
        """The token of an attempt that is not listed, and has pods: its Job is closed, or gone."""
        job = await self._namespace.job(name)
        owners = [job] if job is not None else await self._namespace.pods(name)
        return next(filter(None, map(token_of, owners)), "")

    async def see(self, target: Target) -> Observation:
        """Read one attempt. Raises NotFound."""
        observed = await self._looks.observe(target)
        if observed is None:
            place = f"the namespace {self._cluster.namespace}"
            raise NotFound(f"Kubernetes does not know the Job {target.name} in {place}")
        return observed

    async def entrance(self, target: Target, number: int) -> Entrance:
        """The pod of that number, from 0 on. Raises NotFound unless it runs."""
        if await self._looks.own(target) is not None:
            for pod in await self._namespace.pods(target.name):
                if (pod["status"].get("phase"), index_of(pod)) == ("Running", number):
                    name, namespace = pod["metadata"].get("name", ""), self._cluster.namespace
                    return entrance(
                        "kubectl",
                        server=self._client.server,
                        namespace=namespace,
                        pod=name,
                        container=MAIN,
                    )
        raise NotFound(f"Kubernetes does not run pod {number} of {target.name} now")

    async def cancel(self, target: Target) -> None:
        """Suspend the Job, if it exists and has not ended. Where it is gone, end the pods that it left."""
        own_job = await self._looks.own(target)
        if own_job is None:
            await self._namespace.end_orphans(target)
        elif not _is_over(own_job):
            now = datetime.fromtimestamp(self._clock(), UTC)
            await self._namespace.stop(own_job, now.isoformat(timespec="seconds"))

    async def forget(self, targets: Sequence[Target]) -> frozenset[str]:
        """Delete the Jobs, then create a small Job that removes their records, which only pods can write."""
        await each(targets, self._delete)
        return await remove(self._records, targets, self._clear)

    async def nodes(self) -> ClusterView:
        """The nodes, if Slipway's account may list them; nodes belong to no namespace.

        Raises Misconfigured for any other refusal, as of a token that has expired.
        """
        pods = await self._namespace.pod_rows()
        try:
            return view(self._cluster, await self._namespace.node_rows(), pods)
        except LacksRight:
            return unseen(self._cluster)

    async def _make_programs(self) -> None:
        if self._programs_at is None or not 0 <= self._clock() - self._programs_at < _PROGRAMS:
            request = programs(self._cluster)
            creation = await make(self._client, request.path, request.body)
            refuse_dropped(creation, request.body["metadata"]["name"])
            self._programs_at = self._clock()

    async def _refuse_dropped(self, created: Creation, target: Target) -> None:
        """Take back a Job of which the server dropped fields.

        None of its pods has started: they wait for the Secret.
        """
        if created.dropped:
            await self._namespace.delete(created.object)
            refuse_dropped(created, target.name)

    async def _clear(self, targets: Sequence[Target]) -> bool:
        await self._make_programs()
        # A fixed name, so that no second Job is created while one runs.
        request = forgetting(self._cluster, f"{FORGET}-{int(self._clock() // 60)}", targets)
        accept = ("AlreadyExists",)
        answer = await self._client.call("POST", request.path, request.body, accept=accept)
        return not answer.reason

    async def _delete(self, target: Target) -> None:
        own_job = await self._looks.own(target)
        if own_job is not None:
            await self._namespace.delete(own_job)
        else:
            await self._namespace.end_orphans(target)


def _is_over(document: Mapping[str, object]) -> bool:
    return condition(document, "Complete") is not None or condition(document, "Failed") is not None
