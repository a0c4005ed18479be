"""The environment of a job's processes, as explain shows it before any of them runs. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from shared.core.engine import Order
from shared.core.relations.variables import Variable, source_of
from shared.engines.launch import plan as launch
from shared.engines.launch.site import Site

_USED = re.compile(r"\$(?:\{(\w+)\}|(\w+))", re.ASCII)
#: Placeholders for values that are known only on the nodes.
_LATER = {
    "SLIPWAY_HOSTS": "<the job's nodes, with commas>",
    "SLIPWAY_HOST_0": "<the first of the job's nodes>",
}


def variables(site: Site, order: Order, run: str) -> tuple[Variable, ...]:
    """Every variable, in the order of definition: a value may use those before it.

    `run` stands for the number of a run.
    """
    texts = {"SLIPWAY_RUN": run, **_LATER}
    values = {}
    for name, text, source in _entries(site, order):
        value = _USED.sub(lambda match: texts.get(match[1] or match[2], match[0]), text)
        texts[name] = value
        values[name] = Variable(name, value, source, exact="<" not in value and "$SLIPWAY_HOST" not in value)
    for secret in order.document["properties"].get("secrets") or ():
        values[secret["name"]] = Variable(secret["name"], str(secret.get("value")), "job")
    return tuple(values.values())


def _entries(site: Site, order: Order) -> Iterator[tuple[str, str, str]]:
    plan: Mapping[str, Any] = launch.plan(site, order)
    yield "PATH", site.path, "engine"
    for name, text in (*plan["system"], *plan["inputs"]):
        yield name, text, "engine"
    for name, _, prefix, rest in plan["outputs"]:
        yield name, f"{prefix.rstrip('/')}/{rest}", "engine"
    for name, text in plan["common"]:
        yield name, text, "engine"
    for name, text in plan["job"]:
        yield name, text, source_of(name, text)
    for step in plan["main"][:1]:
        for name, text in step["environment"]:
            yield name, text, "engine"
        if any("AZ_BATCHAI_TASK_INDEX=" in word for word in step["argv"]):
            yield "AZ_BATCHAI_TASK_INDEX", "<the rank of the process, from 0>", "engine"
