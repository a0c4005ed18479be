"""Creates the pool of a cluster, or warns about an existing one.

A pool with an identity, or with mounts that need one, can only be created by a template.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.core.errors import EngineError
from shared.engines import untrusted
from shared.engines.batch.account import Account
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.scaling import INTERVAL, Demand, formula
from shared.engines.batch.sizes import size_trouble
from shared.engines.batch.wire.client import BatchClient
from shared.engines.batch.wire.sign import Key
from shared.engines.provisioning import Plan, Stage, Step

#: The image of new pools: it has GPU drivers, Docker and Python.
IMAGE: Mapping[str, Any] = {
    "imageReference": {
        "publisher": "microsoft-dsvm",
        "offer": "ubuntu-hpc",
        "sku": "2404",
        "version": "latest",
    },
    "nodeAgentSKUId": "batch.node.ubuntu 24.04",
}
#: The smallest size with a GPU that Azure still offers, and the nearest to that of the workspace script.
_SIZE = "Standard_NC4as_T4_v3"
#: How long before an image's end of life the warnings start.
_WARNED = timedelta(days=180)


def provision(cluster: BatchCluster, key: Key, plan: Plan, account: Account) -> Iterator[Stage]:
    """Create the pool if it is missing; report problems of its size, its image and the account's quota."""
    service = f"the Batch account at {cluster.url}"
    yield Stage(service, "url of the cluster in SLIPWAY_CLUSTERS", _pool(cluster, key, plan, account))


def pool_body(cluster: BatchCluster, plan: Plan) -> dict[str, Any]:
    """The body of a new pool. Pure."""
    return {
        "id": cluster.pool,
        "vmSize": plan.vm_size or _SIZE,
        "virtualMachineConfiguration": dict(IMAGE),
        "taskSlotsPerNode": 1,
        # for jobs on several nodes
        "enableInterNodeCommunication": True,
        "taskSchedulingPolicy": {"nodeFillType": "pack"},
        "enableAutoScale": True,
        "autoScaleFormula": formula(cluster, Demand()),
        "autoScaleEvaluationInterval": INTERVAL,
        "metadata": [{"name": "slipway", "value": cluster.name}],
    }


async def _pool(cluster: BatchCluster, key: Key, plan: Plan, account: Account) -> AsyncIterator[Step]:
    client = BatchClient(cluster.url, key)
    try:
        answer = await client.call("GET", f"/pools/{cluster.pool}", accept=("PoolNotFound",))
        if answer.code:
            body = pool_body(cluster, plan)
            created = await client.call("POST", "/pools", body, accept=("PoolExists",))
            note = await _trouble(client, body, cluster, account)
            yield Step("pool", cluster.pool, created=not created.code, note=note)
            return
        note = await _trouble(client, answer.body, cluster, account)
        yield Step("pool", cluster.pool, created=False, note=note)
    finally:
        await client.close()
        await account.close()


async def _trouble(
    client: BatchClient, pool: Mapping[str, Any], cluster: BatchCluster, account: Account
) -> str:
    """The problems with the size and the image of a pool, and with the quota for it; "" if none is known."""
    machine, size = pool.get("virtualMachineConfiguration") or {}, str(pool.get("vmSize") or "")
    images = [one async for one in client.listed("/supportedimages")]
    faults = (
        size_trouble(size),
        image_trouble(machine, images, datetime.now(UTC)),
        await _quota_trouble(account, size, cluster.max_nodes),
    )
    return "; ".join(filter(None, faults))


async def _quota_trouble(account: Account, size: str, most: int) -> str:
    """Why a pool cannot grow to so many nodes, or why that is not known; "" if it can."""
    try:
        quota = await account.read_quota(size)
    except EngineError as error:
        return f"its quota is not known: {error}"
    return quota.trouble(most) if quota else ""


def image_trouble(machine: Mapping[str, Any], images: list[Mapping[str, Any]], now: datetime) -> str:
    """The problem with a pool's image, according to the service's list of supported ones. Pure."""
    reference = machine.get("imageReference") or {}
    named_parts = {name: str(reference.get(name) or "").lower() for name in ("publisher", "offer", "sku")}
    name = " ".join(named_parts.values())
    if not named_parts["publisher"] or not images:
        return ""  # an image of the operator's own
    for one in images:
        listed = one.get("imageReference") or {}
        if all(str(listed.get(part) or "").lower() == text for part, text in named_parts.items()):
            end = untrusted.moment(one.get("batchSupportEndOfLife"))
            if end is None or end - now > _WARNED:
                return ""
            verb = "ended" if end <= now else "ends"
            return f"the support of its image {name} {verb} on {end:%Y-%m-%d}: move to {_text(IMAGE)}"
    return f"Azure Batch does not support its image {name}: move to {_text(IMAGE)}"


def _text(machine: Mapping[str, Any]) -> str:
    reference = machine["imageReference"]
    return f"{reference['publisher']} {reference['offer']} {reference['sku']}"
