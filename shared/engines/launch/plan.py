"""The program that runs a job on the nodes, one for every scheduler, and the plan that it follows.

Pure. The program (`node/`) is Python, for any version from 3.6 on with nothing installed.

Python has JSON, process groups and atomic renames, which would each need quoting in a shell, and the nodes of
a scheduler have it. A job's container only needs bash. The plan is data. A person's text is in the
environment of a step, and reaches a shell only as the job's own command.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import Any

from shared.core.engine import Earlier, Order
from shared.core.errors import Rejected
from shared.engines.launch.outliving import saved, uploads, write_back
from shared.engines.launch.packages import with_packages
from shared.engines.launch.programs import in_brief, joined
from shared.engines.launch.shells import PREPARE
from shared.engines.launch.site import Site, Spread
from shared.engines.launch.steps import Steps
from shared.engines.launch.toolkits import common_variables, main_steps
from shared.engines.launch.variables import inputs, outputs, own, saved_before, secrets, system
from shared.jobspec import wall_clock

_STORES = ("files", "proof", "store", "blobs")
_STEPS = ("private", "ends", "families", "processes")
_SAVED = tuple(
    f"saved/{name}" for name in ("generations", "pieces", "folder", "reading", "shelf", "node", "program")
)
_OUTPUTS = ("kept/entries", "kept/left_out", "kept/bring")
_FILES = (*_STORES, *_STEPS, "turns", "claim", "mounting", "uploads", "held/hold", "run")
#: Variables that hold the program's input.
PLAN, SUBMISSION = "SLIPWAY_PLAN", "SLIPWAY_SUBMISSION"
#: The most bytes of a plan as it is written; of a longer one, which is packed, as many as Linux allows to the
#: value of a variable: 128 KiB with its name, a sign and an end.
_PLAIN, _LARGEST = 64 << 10, (128 << 10) - len(f"{PLAN}=") - 1


@cache
def script() -> str:
    """The program, which is the same for every job."""
    return joined(*_FILES)


@cache
def spreading() -> str:
    """The program that starts processes on the other nodes, for schedulers without a command for that."""
    return joined(*_STORES, "private", "families", "agent", "spread")


@cache
def keeping() -> str:
    """The program that uploads files of the nodes to a blob container."""
    return joined(*_STORES, "private", *_OUTPUTS, *_SAVED, "keep")


@cache
def mounting() -> str:
    """The program that mounts a job's volumes on its node."""
    return joined("private", "volumes")


@cache
def bringing() -> str:
    """The program that brings the code of a job to its node."""
    return joined("../../snapshots/grammar", "unpack", "code")


@cache
def bringing_in_brief() -> str:
    """The same as one short word: it stands in every plan, and in what Batch AI lists of a job."""
    return in_brief(bringing())


@cache
def forgetting() -> str:
    """The program that removes the leftovers of attempts."""
    return joined("files", "proof", "store", "forget")


def plan(site: Site, order: Order) -> dict[str, Any]:
    """The input of the program, as JSON. It contains secret values: see `environment`."""
    properties: Mapping[str, Any] = order.document["properties"]
    steps = _steps(site, order)
    return {
        "version": 1,
        "token": order.target.token,
        "proof": list(order.keys.get(order.target.token, ())),
        "records": site.place or site.records,
        "ends": site.ends,
        "earlier": [_earlier(order, one) for one in order.earlier],
        "run": list(site.scheduler.run),
        "hosts": list(site.scheduler.hosts),
        "hidden": list(site.scheduler.hidden),
        "ready": list(site.scheduler.ready),
        "programs": _programs(site),
        **({"afterwards": site.scheduler.afterwards} if site.scheduler.afterwards else {}),
        **_end(steps, properties),
        **_places(steps, properties),
        "volumes": [[volume.at, volume.label] for volume in site.volumes],
        "mounting": [*steps.mounting(), *steps.resuming()],
        **_environment(steps, order),
        "saved": saved(steps, order),
        "setup": [steps.setup(), *steps.keeping("make"), *steps.bringing()],
        **({"image": entering} if (entering := steps.entering()) else {}),
        **({"code": steps.code(bringing_in_brief())} if site.code else {}),
        **_commands(steps, properties),
        **_hold(steps, order),
        "usage": [steps.usage(), *steps.keeping("follow", service=True), *write_back(steps)],
        **uploads(site, steps),
        **({"startBy": int(site.start_by.timestamp())} if site.start_by else {}),
    }


def essentials(site: Site, order: Order) -> dict[str, Any]:
    """The members of the plan that the program in shell needs for one command on one node."""
    steps, properties = _steps(site, order), order.document["properties"]
    return {
        "seconds": seconds(properties, site.longest),
        **_places(steps, properties),
        **_environment(steps, order),
        **_commands(steps, properties),
        **_hold(steps, order),
    }


def _steps(site: Site, order: Order) -> Steps:
    properties: Mapping[str, Any] = order.document["properties"]
    nodes = int(properties["nodeCount"])
    return Steps(site, nodes, _names(site, order), (*own(properties), *secrets(properties)))


def _places(steps: Steps, properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"slots": steps.slots(properties), "links": [list(link) for link in steps.site.links]}


def _commands(steps: Steps, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The steps of the job's own commands."""
    preparation = with_packages((properties.get("jobPreparation") or {}).get("commandLine") or "")
    return {
        "preparation": [steps.on_all_nodes(PREPARE, preparation)] if preparation else [],
        "main": main_steps(steps, properties),
    }


def _hold(steps: Steps, order: Order) -> dict[str, Any]:
    """For how long the nodes are kept after a failure of the job's own, and by which processes."""
    length = int(order.hold.total_seconds())
    return {"hold": {"seconds": length, "steps": [steps.holding(length)]}} if length else {}


def _end(steps: Steps, properties: Mapping[str, Any]) -> dict[str, Any]:
    """When and how the processes of the job end, and what is put away then."""
    scheduler = steps.site.scheduler
    return {
        "seconds": seconds(properties, steps.site.longest),
        "grace": steps.site.grace,
        "asksAll": scheduler.asks_all,
        "askFar": [list(scheduler.ask_far)] if scheduler.ask_far else [],
        "isAsked": bool(steps.site.place),
        "ending": steps.ending(),
        "cleanup": steps.cleanup(),
    }


def _environment(steps: Steps, order: Order) -> dict[str, Any]:
    """The variables of the job's processes, in the order of definition."""
    properties: Mapping[str, Any] = order.document["properties"]
    return {
        "system": _pairs(system(steps.site)),
        "inputs": _pairs({**inputs(properties), **saved_before(steps.site, order)}),
        "outputs": [list(output) for output in outputs(steps.site, properties)],
        "common": _pairs(common_variables(steps, properties)),
        "job": _pairs(own(properties)),
        "secrets": secrets(properties),
    }


def _earlier(order: Order, one: Earlier) -> list[str]:
    token = one.target.token
    return [one.target.name, token, one.reason, *order.keys.get(token, ())]


def environment(site: Site, order: Order, submission: str) -> dict[str, str]:
    """The environment in which the scheduler has to start the program.

    Nothing else may hold secret values. Raises Rejected if the job is too large: `fits` said so.
    """
    text = _packed(plan(site, order))
    if len(text) > _LARGEST:
        raise Rejected("the plan of the job does not fit into a variable of the program on the nodes")
    return {
        "PATH": site.path,
        "LANG": "C.UTF-8",
        PLAN: text,
        SUBMISSION: submission,
    }


def fits(site: Site, order: Order) -> bool:
    """Whether the program can be started with the plan."""
    return len(_packed(plan(site, order))) <= _LARGEST


def _packed(content: dict[str, Any]) -> str:
    text = json.dumps(content, separators=(",", ":"))
    return text if len(text) <= _PLAIN else base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def seconds(properties: Mapping[str, Any], longest: timedelta | None = None) -> int:
    """The wall-clock limit in seconds, at most the cluster's own."""
    written = (properties.get("constraints") or {}).get("maxWallClockTime")
    return int(wall_clock(written, longest).total_seconds())


def _pairs(variables: Mapping[str, str]) -> list[list[str]]:
    return [[name, value] for name, value in variables.items()]


def _programs(site: Site) -> list[str]:
    """The scheduler's programs that a run needs: for its state, the nodes' names, and steps on the nodes."""
    spread = site.scheduler.spread(Spread(1, 1))
    return list(dict.fromkeys(words[0] for words in (site.scheduler.ready, site.scheduler.hosts, spread)))


def _names(site: Site, order: Order) -> tuple[str, ...]:
    """The names of the variables that Slipway sets for the processes of the job, under any launcher."""
    properties: Mapping[str, Any] = order.document["properties"]
    names = [*system(site), *inputs(properties), *saved_before(site, order)]
    names += [output.variable for output in outputs(site, properties)]
    return tuple(dict.fromkeys((*names, "SLIPWAY_WORK")))
