"""A job's part of its nodes: by its request, and then by what Slurm allocated (AllocTRES). Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from shared.core.facts import ALL, Allotted
from shared.engines.slurm.job.chosen import Listed
from shared.engines.slurm.job.resources import shares
from shared.jobspec import JsonObject, mebibytes

#: An amount in the list of what is allocated: gres/gpu=2, mem=1536M, or mem=1.50G. `gres/gpu:a100` counts
#: again what `gres/gpu` holds.
_AMOUNT = re.compile(r"(?:^|,)(cpu|mem|node|gres/gpu)=(\d{1,12}(?:\.\d{1,9})?)([KMGTP]?)", re.ASCII)
_MEBIBYTES = {"": 1.0, "K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2, "P": 1024.0**3}


#: The least part: a job that has anything of a node is counted.
_LEAST = 0.0001


class _Amounts(NamedTuple):
    """Of one node; None for what is not known."""

    cpus: float | None
    memory: float | None
    gpus: float | None


def requested(resources: JsonObject, listing: Listed) -> Allotted:
    """What a job with these resources, which are the cluster's and its own, gets of each node.

    ALL only for a job that does not share. The part is None where the sizes of the nodes are not known.
    """
    if not shares(resources):
        return ALL
    memory = resources.get("memory")
    amounts = _Amounts(resources.get("cpus"), mebibytes(memory) if memory else None, resources.get("gpus"))
    return Allotted(int(resources.get("gpus") or 0), _part(amounts, listing))


def allocated(text: str, listing: Listed) -> Allotted | None:
    """What Slurm gave a job on all of its nodes; None if it does not say.

    The GPUs are None where Slurm does not count them (AccountingStorageTRES), and the part where the sizes of
    the nodes are not known.
    """
    amounts = {name: float(number) * _MEBIBYTES[unit] for name, number, unit in _AMOUNT.findall(text)}
    nodes = amounts.get("node")
    if not nodes or "cpu" not in amounts:
        return None
    devices = amounts.get("gres/gpu")
    each = _Amounts(
        *(amounts[name] / nodes if name in amounts else None for name in ("cpu", "mem", "gres/gpu"))
    )
    return Allotted(None if devices is None else int(devices), _part(each, listing))


def _part(amounts: _Amounts, listing: Listed) -> float | None:
    """The largest part of what a node has; None where its size is not known."""
    sizes = (listing.cpus, listing.memory, listing.gpus)
    parts = [
        amount / size for amount, size in zip(amounts, sizes, strict=True) if amount is not None and size
    ]
    return max(_LEAST, round(min(1.0, max(parts)), 4)) if any(parts) else None
