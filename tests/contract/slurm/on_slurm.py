"""The engine on the mini cluster, and orders for it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from local.patience import Patience
from local.slurm import Slurm
from shared.core.engine import Earlier, Observation, Order
from shared.core.job import Target
from shared.engines.proofs import Proofs
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.engine import SlurmEngine
from shared.engines.slurm.wire.dialect import DIALECTS, Dialect
from shared.engines.slurm.wire.key import SigningKey

NAME = "dev-cluster-00"
_PROOFS = Proofs(("the deployment's",))
#: Seconds without any progress.
PATIENCE = 120.0


def engine_on(running: Slurm, dialects: Sequence[Dialect] = DIALECTS, **options: Any) -> SlurmEngine:
    """An engine whose one cluster, `dev-cluster-00`, is this one; it sees the nodes' shared directory."""
    shared = str(running.shared)
    values: dict[str, Any] = {
        "partition": "warm",
        "mount_root": f"{shared}/mounts",
        "temporary": f"{shared}/nodes",
        "reads": {shared: shared},
        "settle_seconds": 0.5,
        **options,
    }
    cluster = SlurmCluster(NAME, url=running.url, user=running.user, shared=shared, **values)
    return SlurmEngine(
        {NAME: cluster},
        {NAME: SigningKey(running.jwt_key.read_bytes())},
        dialects=dialects,
        proofs=Proofs(("the deployment's",)),
    )


@asynccontextmanager
async def engine(running: Slurm, **options: Any) -> AsyncIterator[SlurmEngine]:
    """The same, closed at the end."""
    result = engine_on(running, **options)
    try:
        yield result
    finally:
        await result.close()


def order(
    block: dict[str, Any] | str,
    *,
    name: str = "",
    token: str = "t.1",
    earlier: tuple[Earlier, ...] = (),
    **properties: Any,
) -> Order:
    """An order; a text is a command for one node."""
    target = Target(
        engine="slurm",
        cluster=NAME,
        experiment="exp",
        name=name or f"n-{uuid.uuid4().hex[:12]}",
        token=token,
    )
    toolkit = {"customToolkitSettings": {"commandLine": block}} if isinstance(block, str) else block
    document = {
        "cluster": {"id": f"/clusters/{NAME}"},
        "nodeCount": 1,
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        **toolkit,
        **properties,
    }
    return Order(target, {"properties": document}, earlier)


async def submitted(slurm: SlurmEngine, job_order: Order) -> None:
    """Submitted, and released by passes."""
    await slurm.submit(job_order)
    await until(slurm, job_order.target, _released)


def _released(observation: Observation | None) -> bool:
    return observation is not None and (observation.why is None or observation.why.word != "JobHeldUser")


async def ended(slurm: SlurmEngine, target: Target) -> Observation:
    """How it ended, by passes."""
    return await until(
        slurm, target, lambda observation: observation is not None and observation.state.terminal
    )


async def until(
    slurm: SlurmEngine, target: Target, expected: Callable[[Observation | None], bool]
) -> Observation:
    """What a pass says of it at last."""
    patience = Patience(PATIENCE)
    while not expected(observation := (await slurm.status(NAME, [target])).get(target.name)):
        assert not patience.is_over(observation and observation.state), observation
        await asyncio.sleep(0.1)
    assert observation is not None
    return observation


async def text(slurm: SlurmEngine, target: Target, file: str) -> str:
    return (await slurm.read(target, "stdouterr", file, 0, 1 << 20)).data.decode()
