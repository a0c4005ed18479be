"""Where a process of a running job is: coordinates for a person's own tool, never a command. Pure.

Some of the values were reported by a cluster, and the client gives them to a program as arguments. So each
has a strict form here, and again there (`slipway/client/entry/places.py`): none begins with a dash, and none
means anything to a shell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.core.errors import Busy

HOST = r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}"
USER = r"[A-Za-z_][A-Za-z0-9._-]{0,31}"
_LABEL = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
ID = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
#: Tool → each of its values, and the form of that. A value that ends with `?` here may be left out.
FORMS: Mapping[str, Mapping[str, str]] = {
    "kubectl": {
        "server?": r"https?://[A-Za-z0-9\[][A-Za-z0-9.:\[\]-]{0,252}(?:/[A-Za-z0-9._~/-]{0,200})?",
        "namespace": _LABEL,
        "pod": r"[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?",
        "container": _LABEL,
    },
    "srun": {
        "job": r"[1-9][0-9]{0,9}",
        "node": HOST,
        "login?": HOST,
        "user": USER,
        "certificate?": r"ssh-ed25519-cert-v01@openssh\.com [A-Za-z0-9+/]{100,4000}={0,2}",
    },
    "ssh": {"host": HOST, "port": r"[1-9][0-9]{0,4}", "user": USER},
    "task": {
        **dict.fromkeys(("pool", "node", "job", "task"), ID),
        "directory": r"[A-Za-z0-9_][A-Za-z0-9._/-]{0,500}",
    },
}


@dataclass(frozen=True)
class Entrance:
    """Where the process of one rank is: the tool that leads there, and the values that it needs."""

    tool: str
    place: Mapping[str, str | int]
    #: why Slipway's commands do not go there; "" if they do
    reason: str = ""
    #: what a certificate lets a person start at its login node; "" where their own key leads there
    gate: str = ""


def entrance(tool: str, reason: str = "", **values: str | int) -> Entrance:
    """The same, where every value has its form. Raises Busy for one that its cluster reports otherwise."""
    for name, form in FORMS[tool].items():
        value = str(values.get(name.rstrip("?"), ""))
        if not re.fullmatch(form, value, re.ASCII) and (value or not name.endswith("?")):
            raise Busy(f"the cluster reports no {name.rstrip('?')} of the job that can be used")
    return Entrance(tool, {name: value for name, value in values.items() if value != ""}, reason)


def ranks_of(spec: Mapping[str, Any]) -> int:
    """How many processes a job starts by itself: as many as it says, and at least one on each node."""
    properties = spec["properties"]
    blocks = [block for name, block in properties.items() if name.endswith("Settings") and block]
    counts = [int(block.get("processCount") or 0) for block in blocks]
    return max(int(properties["nodeCount"]), *counts, 1)


def node_of(spec: Mapping[str, Any], rank: int) -> int:
    """The number of the node on which a rank runs: the nodes are filled in blocks, from the first one on."""
    nodes = int(spec["properties"]["nodeCount"])
    return rank // -(-ranks_of(spec) // nodes)
