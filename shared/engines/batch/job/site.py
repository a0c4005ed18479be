"""What the program on the nodes needs to know of a cluster: hosts, starting processes, mounts. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from shared.core.engine import Order
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.job.before import directories_before
from shared.engines.launch.docker import docker
from shared.engines.launch.mounts import code_file, linked
from shared.engines.launch.site import Container, Scheduler, Site, Spread
from shared.engines.launch.volumes import Keys, Volume, volumes
from shared.engines.proofs import saved_by

#: The program that starts processes on other nodes (`node/spread.py`), as the task's command unpacks it.
SPREAD = "{AZ_BATCH_TASK_WORKING_DIR}/spread.py"


#: The program that mounts a job's volumes (`node/volumes.py`).
VOLUMES = "{AZ_BATCH_TASK_WORKING_DIR}/volumes.py"


def _spread(spread: Spread) -> tuple[str, ...]:
    return ("python3", "-I", SPREAD, "on", str(spread.nodes), str(spread.tasks), str(spread.first))


BATCH = Scheduler(
    hosts=("sh", "-c", 'exec python3 -I "$AZ_BATCH_TASK_WORKING_DIR/spread.py" hosts'),
    ready=("true",),
    run=("AZ_BATCH_NODE_ID",),
    node="AZ_BATCH_NODE_ID",
    rank="SLIPWAY_RANK",
    spread=_spread,
    # At an emulator it may hold a signature.
    hidden=("SLIPWAY_AGENTS",),
)


class Life(NamedTuple):
    """Until when the signatures of one attempt live, and until when a run may start that ends before."""

    start_by: datetime
    until: datetime


def site(cluster: BatchCluster, order: Order, signature: str = "", life: Life | None = None) -> Site:
    """The site of one attempt.

    `signature`: for the container of an emulator; `life`: of all signatures, chosen at submission.
    """
    target, properties = order.target, order.document["properties"]
    keys = Keys(cluster.identity, cluster.suffix, life and life.until, https=not cluster.is_local)
    own = volumes(cluster.mounts, properties, keys)
    links = linked(cluster.mounts, properties)
    temporary = f"{cluster.temporary.rstrip('/')}/{target.name}"
    roots = (*filter(None, (cluster.shared,)), cluster.mount_root, temporary, *(to for _, to in links))
    is_signed = bool(signature) or any(_is_signed(one) for one in own)
    mounts = (f"{cluster.mount_root.rstrip('/')}/{at}" for at in cluster.mounted)
    return Site(
        scheduler=BATCH,
        segment=cluster.layout.segment(target),
        records=cluster.layout.attempt(target) if cluster.shared else temporary,
        saved=cluster.layout.saved(target.job_id) if cluster.shared else f"{temporary}/$SLIPWAY_RUN/saved",
        resumed=cluster.layout.saved(order.resumes) if cluster.shared and order.resumes else "",
        generations=_generations(cluster, order, signature) if cluster.blobs else "",
        temporary=temporary,
        # The service keeps the program's own output in the task's directory.
        output="{SLIPWAY_TEMP}/output",
        mount_root=cluster.mount_root,
        path=cluster.path,
        gpus=cluster.gpus,
        grace=cluster.grace_seconds,
        links=links,
        volumes=own,
        mounter=("python3", "-I", VOLUMES),
        ends=cluster.ends,
        container=_container(cluster, target.name, properties, roots),
        longest=cluster.longest,
        place=cluster.place(cluster.layout.attempt(target), signature),
        keep=cluster.place(cluster.files(target), signature),
        before=tuple((one.prefix, one.place) for one in directories_before(cluster, order)),
        start_by=life.start_by if life and is_signed else None,
        code=order.code,
        code_file=code_file(cluster.mounts, order.code),
        shares=(*(to for _, to in links), *mounts) if cluster.blobs else (),
    )


def _generations(cluster: BatchCluster, order: Order, signature: str) -> str:
    """Where the nodes keep what the job saves, with the keys that prove that it is its own."""
    place = json.loads(cluster.place("", signature))
    own = _generations_of(cluster, order, order.target.job_id)
    earlier = _generations_of(cluster, order, order.resumes) if order.resumes else None
    near = (one.target for one in order.before if one.saved and one.target.cluster == cluster.name)
    # Where `saved_before` says.
    before = [{**_generations_of(cluster, order, one.job_id), "name": one.job_id} for one in near]
    return json.dumps({**place, **own, "from": earlier, "before": before})


def _generations_of(cluster: BatchCluster, order: Order, job_id: str) -> dict[str, Any]:
    keys = order.keys.get(saved_by(job_id), ())
    return {"prefix": cluster.layout.saved(job_id).strip("/"), "proof": list(keys)}


def _is_signed(volume: Volume) -> bool:
    config: Mapping[str, Any] = volume.document.get("config") or {}
    return bool((config.get("azstorage") or {}).get("sas"))


def _container(
    cluster: BatchCluster, name: str, properties: Mapping[str, Any], roots: tuple[str, ...]
) -> Container | None:
    if not properties.get("containerSettings"):
        return None
    return docker(
        f"slipway-{name}",
        properties,
        node="AZ_BATCH_NODE_ID",
        path=cluster.path,
        gpus=cluster.gpus,
        grace=cluster.grace_seconds,
        directories=roots,
    )
