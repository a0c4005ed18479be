"""The shell program that runs a job on one node whose image has no Python, and the input of that program.

Pure.

The program (`node/shell/`) is POSIX shell, the same for every job. It runs single commands: the preparation,
and the command line of a custom toolkit. Ranks and MPI need the program in Python (`plan`).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from shared.core.engine import Order
from shared.engines.launch import plan as launch
from shared.engines.launch.shells import HOLDING, ONE, USAGE
from shared.engines.launch.site import Site
from shared.jobspec import JsonObject

#: The variable with the keys of the attempt and of those before it: a token and its keys on each line.
PROOFS = "SLIPWAY_PROOFS"
_FILES = ("values", "proof", "claim")
#: The only step that the program supports, and where it writes.
_STEP, _OUTPUT = ["bash", "-c", ONE], ["stdout.txt", "stderr.txt"]


@cache
def script() -> str:
    """The program, which is the same for every job."""
    holding = f"slipway_holding={shlex.quote(HOLDING)}\n"
    return "".join((*map(_text, (*_FILES, "families", "hold")), holding, _text("run")))


@cache
def forgetting() -> str:
    """The program that removes the leftovers of attempts."""
    return "".join(_text(name) for name in (*_FILES, "forget"))


def placing() -> str:
    """The program that puts the code of a job at its place, as a file."""
    return _text("place")


def sampling() -> str:
    """The program that samples the load of the node, as a file."""
    return USAGE.replace("{RANK}", "SLIPWAY_RANK")


def is_alone(properties: JsonObject) -> bool:
    """Whether the job needs neither Python nor bash in its image: one command on one node."""
    return int(properties["nodeCount"]) == 1 and properties.get("customToolkitSettings") is not None


def environment(site: Site, order: Order, submission: str) -> dict[str, str]:
    """The environment in which to start the program. Nothing else may hold secret values."""
    plan = launch.essentials(site, order)
    preparation, main = plan["preparation"], plan["main"]
    return {
        "PATH": site.path,
        "LANG": "C.UTF-8",
        **claim(site, order, submission),
        "SLIPWAY_SECONDS": str(plan["seconds"]),
        "SLIPWAY_SLOTS": str(plan["slots"]),
        "SLIPWAY_LINKS": "\n".join(f"{at}\t{to}" for at, to in plan["links"]),
        "SLIPWAY_PREPARATION": _command(preparation) if preparation else "",
        "SLIPWAY_MAIN": _command(main),
        **_numbered("SLIPWAY_SYSTEM_", plan["system"]),
        **_numbered("SLIPWAY_INPUT_", plan["inputs"]),
        **_numbered("SLIPWAY_JOB_", plan["job"]),
        **_numbered("SLIPWAY_SECRET_", plan["secrets"].items()),
        **_outputs(plan["outputs"]),
        **({"SLIPWAY_UNPACKED": site.unpacked} if site.unpacked else {}),
        **({"SLIPWAY_HOLD": str(plan["hold"]["seconds"])} if "hold" in plan else {}),
        **({"SLIPWAY_RESUMED": f"{site.resumed}\t{site.saved}"} if site.resumed else {}),
    }


def claim(site: Site, order: Order, submission: str) -> dict[str, str]:
    """The variables with which the program claims the attempt, or reports why nothing can run."""
    earlier = ((one.target.name, one.target.token, one.reason) for one in order.earlier)
    proofs = {PROOFS: "\n".join(" ".join((token, *keys)) for token, keys in order.keys.items())}
    return {
        "SLIPWAY_RECORDS": site.records,
        "SLIPWAY_GRACE": str(site.grace),
        "SLIPWAY_ENDS": site.ends,
        "SLIPWAY_TOKEN": order.target.token,
        "SLIPWAY_SUBMISSION": submission,
        "SLIPWAY_EARLIER": "\n".join("\t".join(words) for words in earlier),
        **(proofs if order.keys else {}),
    }


def _command(steps: list[Mapping[str, Any]]) -> str:
    (step,) = steps
    if step["argv"] != _STEP:
        raise ValueError(f"{step['argv']} is not a command for one node")
    return str(step["literal"]["SLIPWAY_COMMAND"])


def _numbered(prefix: str, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {f"{prefix}{number}": f"{name}={value}" for number, (name, value) in enumerate(pairs)}


def _outputs(outputs: Iterable[tuple[str, str, str, str]]) -> dict[str, str]:
    parts = {}
    for number, (variable, identity, prefix, rest) in enumerate(outputs):
        parts[f"SLIPWAY_OUTPUT_{number}"] = f"{variable} {identity} {rest}"
        parts[f"SLIPWAY_PREFIX_{number}"] = prefix
    return parts


def _text(name: str) -> str:
    return (Path(__file__).parents[1] / "node" / "shell" / f"{name}.sh").read_text(encoding="utf-8")
