"""How much a job may say of itself: what does not fit is refused before anything is submitted. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from shared.core.engine import Order
from shared.core.job import Target
from shared.core.refusals import refused
from shared.engines.launch.plan import fits
from shared.engines.launch.site import Site
from shared.jobspec import Problem

#: Bytes of a job.json, as people write it: in UTF-8, without escapes.
_LARGEST = 48 * 1024
#: Processes of TensorFlow, each of which the plan describes: more never fit, and are not counted out.
_MOST = 4000
_ANY = Target(engine="", cluster="", experiment="experiment", name="n" * 64, token="t" * 32)


def size_refusals(
    scheduler: str, properties: Mapping[str, Any], site_of: Callable[[Order], Site]
) -> Iterator[Problem]:
    """A refusal of a job that is too large for the program on the nodes; `site_of`: where it would run."""
    size = len(json.dumps(properties, ensure_ascii=False).encode(errors="surrogatepass"))
    if size > _LARGEST:
        text = f"a job for {scheduler} has at most {_LARGEST} bytes, and this one has {size}"
        yield refused("SW109", "/properties", text, "move what is long into a script")
        return
    block = properties.get("tensorFlowSettings")
    if not block:
        return
    count = int(block.get("workerCount") or properties["nodeCount"]) + int(
        block.get("parameterServerCount") or 1
    )
    order = Order(_ANY, {"properties": dict(properties)})
    if count > _MOST or not fits(site_of(order), order):
        at = "/properties/tensorFlowSettings"
        text = "the plan of so many processes does not fit into a variable of the program on the nodes"
        yield refused("SW109", at, text, "shorten their command lines, or use fewer of them")
