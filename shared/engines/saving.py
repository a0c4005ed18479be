"""saving: what a run waits for that its cluster ends, and that may save before it goes. Pure."""

from __future__ import annotations

from datetime import datetime

from shared.core.engine import Why

_TEXT = "its cluster ends this run, and it may save"


def saving(until: datetime | None = None) -> Why:
    """Why a run does nothing else any more; `until` is when it is killed, if the cluster says so."""
    return Why("Saving", f"{_TEXT} until {until:%H:%M:%S} UTC" if until else f"{_TEXT} before")
