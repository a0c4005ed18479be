"""A cluster as it stands and a price of it, as the tests of explain use them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shared.core.engine import ClusterView

ROW = {
    "region": "eastus",
    "size": "Standard_NC6",
    "priority": "lowpriority",
    "currency": "EUR",
    "perHour": 0.5,
    "date": "2026-11-01",
    "source": "an example",
}


def view_of(**changes: Any) -> ClusterView:
    view = ClusterView(
        "dev", "memory", "steady", 1, {"idle": 1}, 0, 4, "STANDARD_NC6", priority="lowpriority"
    )
    return replace(view, **changes)
