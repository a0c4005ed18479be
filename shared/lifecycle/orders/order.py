"""order: the order of the current attempt of a job."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from shared.core.code.record import source_of
from shared.core.engine import Order
from shared.core.job import Job
from shared.core.ports import Ports
from shared.core.relations.before import AFTER
from shared.core.relations.contents import SAVED
from shared.core.relations.variables import UNBUFFERED
from shared.jobspec import JsonObject, open_secrets, with_credentials
from shared.lifecycle.hold.own_end import hold_of
from shared.lifecycle.mountable import mountable_now
from shared.lifecycle.orders.written_before import variables_before, written_before
from shared.lifecycle.packages import VARIABLE as PACKAGES
from shared.lifecycle.packages import package_variables
from shared.lifecycle.retry import earlier

#: For how long a node may fetch the code of an attempt that waits in its cluster's own queue.
_CODE_READABLE = timedelta(days=60)


async def order_of(ports: Ports, job: Job, spec: JsonObject) -> Order:
    """The order, whose document has its secrets opened, its credentials filled in, and Slipway's variables.

    Its code gets a new address, which no engine compares. Raises Rejected.
    """
    opened = open_secrets(spec, lambda at, value: ports.seal.unseal(value, f"{job.key}{at}"))
    defaults = ports.policy.completion
    mountable = await mountable_now(ports, job, opened)
    keys, drops = ports.account_keys, defaults.drop_container
    document = with_credentials(opened, keys, defaults.storage_suffix, mountable, drops)
    before = await written_before(ports, job, spec)
    more = await package_variables(ports, job, document) | variables_before(job, before)
    code = None
    if job.code is not None:
        address = await ports.snapshots.read_address(job.code.blob, ports.clock() + _CODE_READABLE)
        code = source_of(job.code, address)
    document = with_priority(with_ours(document, job, more), job.priority)
    return Order(
        job.fixed_target,
        document,
        earlier(job),
        job.resources,
        code=code,
        before=before,
        resumes=job.resumes,
        hold=hold_of(job),
    )


def with_priority(document: dict[str, Any], priority: str) -> dict[str, Any]:
    """The document with the priority that its job has now, which a person may have changed since."""
    if not priority:  # an older record, or the normal one that no document named
        return document
    return {"properties": {**document["properties"], "schedulingPriority": priority}}


def with_ours(document: Mapping[str, Any], job: Job, more: Mapping[str, str]) -> dict[str, Any]:
    """The document with the variables that identify a job and its attempt, unbuffered Python, and `more`.

    They come first, the token before all: who reads a list of jobs finds it without reading the others. The
    document may set its own PYTHONUNBUFFERED; the empty text turns it off. It sets none of the others.
    """
    token = job.fixed_target.token
    ours = {"SLIPWAY_TOKEN": token, "SLIPWAY_JOB_ID": job.id, "SLIPWAY_ATTEMPT": str(job.attempt), **more}
    properties, reserved = dict(document["properties"]), {*ours, PACKAGES, SAVED}

    def is_theirs(variable: Mapping[str, Any]) -> bool:
        name = str(variable.get("name"))
        return name not in reserved and not name.startswith(AFTER)

    theirs = [v for v in properties.get("environmentVariables") or [] if is_theirs(v)]
    if secrets := properties.get("secrets"):
        properties["secrets"] = [v for v in secrets if is_theirs(v)]
    chosen = {v.get("name") for v in (*theirs, *(properties.get("secrets") or ()))}
    if UNBUFFERED[0] not in chosen:
        ours |= dict((UNBUFFERED,))
    properties["environmentVariables"] = [*({"name": n, "value": v} for n, v in ours.items()), *theirs]
    return {"properties": properties}
