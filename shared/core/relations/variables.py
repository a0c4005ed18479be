"""The environment variables of a job's processes, and who sets them. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """One environment variable of a job's processes."""

    name: str
    #: as the script sees it, or how it is formed if `exact` is False
    value: str
    source: str  #: who sets it: engine, job, slipway
    exact: bool = True


#: Without it, Python shows nothing of a job until some kilobytes are written, or the job ends.
UNBUFFERED = ("PYTHONUNBUFFERED", "1")


def source_of(name: str, value: str) -> str:
    """Who sets a variable of a submitted document: job or slipway."""
    return "slipway" if name.startswith("SLIPWAY_") or (name, value) == UNBUFFERED else "job"
