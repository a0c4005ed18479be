"""mountable_now: what the deployment opens to a job at this moment."""

from __future__ import annotations

from shared.core.errors import Rejected
from shared.core.job import Job
from shared.core.ports import Ports
from shared.jobspec import JsonObject, closed_mount
from shared.lifecycle.current_teams import containers_of


async def mountable_now(ports: Ports, job: Job, document: JsonObject) -> frozenset[str] | None:
    """The containers and shares that a job may mount without a key of its own; None for all.

    Raises Rejected for a document with another one, which its team may have lost since the job was accepted:
    without our key, too, the identity of the nodes would open it, or a directory that they have for it.
    """
    mountable = ports.policy.limits.mountable
    if mountable is None:
        return None
    mountable |= await containers_of(ports, job.team) if job.team else {ports.policy.drop_container}
    cluster = ports.engines.clusters.get(job.cluster)
    if mount := closed_mount(document, mountable, cluster.facts.directories if cluster else ()):
        raise Rejected(f"the mount of {mount} is not open to this job any more")
    return mountable
