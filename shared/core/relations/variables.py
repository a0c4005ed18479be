"""The variables of a job's processes that Slipway adds to its document. Pure."""

from __future__ import annotations

#: Without it, Python shows nothing of a job until some kilobytes are written, or the job ends.
UNBUFFERED = ("PYTHONUNBUFFERED", "1")


def source_of(name: str, value: str) -> str:
    """Who sets a variable of a submitted document: job or slipway."""
    return "slipway" if name.startswith("SLIPWAY_") or (name, value) == UNBUFFERED else "job"
