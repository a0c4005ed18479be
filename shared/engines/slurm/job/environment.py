"""What a job's processes find in their environment on a Slurm cluster, before any of them runs. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from shared.core.engine import Order, Variable
from shared.engines.launch import plan as launch
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.job.site import site

_USED = re.compile(r"\$(?:\{(\w+)\}|(\w+))", re.ASCII)
#: What only the nodes find out.
_LATER = {
    "SLIPWAY_RUN": "<number of the Slurm job>-<times it was requeued>",
    "SLIPWAY_HOSTS": "<the job's nodes, with commas>",
    "SLIPWAY_HOST_0": "<the first of the job's nodes>",
}


def environment(cluster: SlurmCluster, order: Order) -> tuple[Variable, ...]:
    """Every variable, in the order of its making: a value may use those before it."""
    seen = dict(_LATER)
    found = {}
    for name, text, source in _made(cluster, order):
        value = _USED.sub(lambda match: seen.get(match[1] or match[2], match[0]), text)
        seen[name] = value
        found[name] = Variable(name, value, source, exact="<" not in value and "$SLIPWAY_HOST" not in value)
    for secret in order.document["properties"].get("secrets") or ():
        found[secret["name"]] = Variable(secret["name"], str(secret.get("value")), "job")
    return tuple(found.values())


def _made(cluster: SlurmCluster, order: Order) -> Iterator[tuple[str, str, str]]:
    plan: Mapping[str, Any] = launch.plan(site(cluster, order), order)
    yield "PATH", cluster.path, "engine"
    for name, text in (*plan["system"], *plan["inputs"]):
        yield name, text, "engine"
    for name, _, prefix, rest in plan["outputs"]:
        yield name, f"{prefix.rstrip('/')}/{rest}", "engine"
    for name, text in plan["job"]:
        yield name, text, "slipway" if name.startswith("SLIPWAY_") else "job"
    for step in plan["main"][:1]:
        for name, text in step["environment"]:
            yield name, text, "engine"
        if any("AZ_BATCHAI_TASK_INDEX=" in word for word in step["argv"]):
            yield "AZ_BATCHAI_TASK_INDEX", "<the rank of the process, from 0>", "engine"
