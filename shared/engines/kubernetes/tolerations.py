"""Taints that pods tolerate, as kubectl writes them: KEY=VALUE:EFFECT, KEY:EFFECT, or KEY. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_TAINT = re.compile(
    r"(?P<key>[A-Za-z0-9][\w./-]{0,315})(=(?P<value>[\w.-]{0,63}))?"
    r"(:(?P<effect>NoSchedule|PreferNoSchedule|NoExecute))?",
    re.ASCII,
)


def toleration_of(text: str) -> Mapping[str, str] | None:
    """The toleration of a taint; None for other texts."""
    match = _TAINT.fullmatch(text)
    if match is None:
        return None
    effect = {"effect": match["effect"]} if match["effect"] else {}
    if match["value"] is None:
        return {"key": match["key"], "operator": "Exists", **effect}
    return {"key": match["key"], "operator": "Equal", "value": match["value"], **effect}


def tolerations(texts: Sequence[str], unreachable_seconds: int) -> list[Mapping[str, Any]]:
    """All tolerations of a pod: for the cluster's taints, and for how long it stays on a silent node."""
    lost = [
        {
            "key": f"node.kubernetes.io/{state}",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": unreachable_seconds,
        }
        for state in ("not-ready", "unreachable")
    ]
    return [*(one for text in texts if (one := toleration_of(text)) is not None), *lost]
