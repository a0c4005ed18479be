"""Who can reach what, on which engine: what a job of one team can do to a running job of another.

`docs/explanation/secrets.md` shows this table. A job that tries it on every engine of the local stack
(`intruder.py`) is compared with `on_one_machine`: there all nodes are processes of one user on one machine,
so what a scheduler keeps apart by its machines can be reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from shared.engines.registry import ENGINES


class Row(NamedTuple):
    """One thing, as the page names it; the page's word for each engine; the engines where a job gets it."""

    words: str
    cells: Mapping[str, str]
    #: None if no job tries it
    on_one_machine: frozenset[str] | None = frozenset(ENGINES)


_YES, _NO = dict.fromkeys(ENGINES, "yes"), dict.fromkeys(ENGINES, "no")
_ITS_NODES = "only what a job before it left running there could: it has its nodes to itself"
_AT_ITS_START = "on a node that both use, while its program starts; by `sacct`, if that keeps environments"
_BY_VOLUME = {
    "batch": "yes: in the shared directory, or with a token of the pool's identity",
    "kubernetes": "yes: on the volume",
}

REACH: Mapping[str, Row] = {
    "environ": Row(
        "the environment of its processes, its secrets included",
        {**_YES, "slurm": "yes: on a node that both use", "batch": _ITS_NODES, "kubernetes": "no"},
    ),
    "signal": Row("end its processes", {**_YES, "batch": _ITS_NODES, "kubernetes": "no"}),
    "output": Row("read what it writes", {**_YES, **_BY_VOLUME}),
    "write": Row("change what it writes, its log included", {**_YES, **_BY_VOLUME}),
    "record": Row("write a record that ends it, or that says how it ended", _NO, frozenset()),
    "removal": Row(
        "remove its record, so that its failure is not explained, or a lost run is run again",
        {**_YES, **_BY_VOLUME, "batchai": "no"},
        None,
    ),
    "usage": Row("change how long it ran, by which quotas count", _NO, None),
    "proof": Row(
        "the key of its record",
        {
            **_NO,
            "slurm": _AT_ITS_START,
            "batch": _ITS_NODES,
        },
        None,
    ),
    "code": Row(
        "the signature in the environment of its command that reads its code, and no more",
        {**_NO, "batchai": "yes, and uses it for up to 60 days"},
        None,
    ),
    "keys": Row("other keys and signatures in the environment of a process", _NO, frozenset()),
    "drops": Row(
        "drop files as any team, and read what all have dropped",
        {
            **dict.fromkeys(ENGINES, "where `mounts` or `ends` give its nodes the container of drops"),
            "batchai": "yes: on the emulator's machine, or where the cluster mounts that container",
            "batch": "as on Slurm, or where the pool's identity may write there",
        },
        None,
    ),
    "entered": Row(
        "be what a person [enters](../how-to/enter-a-running-job.md) in its place, with other programs",
        {
            **_NO,
            "batchai": "yes",
            "slurm": "on a node that both use, by a step that it starts in the other (`srun --overlap`)",
            "batch": "no: no command enters there",
        },
        None,
    ),
    "memory": Row(
        "keys in the memory of Slipway's programs",
        {**_NO, "batchai": "yes: of the emulator", "batch": "yes: as an administrator"},
        None,
    ),
    "identity": Row(
        "a token of the node's identity",
        {**_NO, "batch": "yes", "kubernetes": "where the cluster lets pods ask for one"},
        None,
    ),
}


def table() -> str:
    """The table of the page: a row for each thing, a column for each engine."""
    lines = [
        "| | " + " | ".join(entry.title for entry in ENGINES.values()) + " |",
        "|---|" + "---|" * len(ENGINES),
    ]
    lines += [
        f"| {row.words} | " + " | ".join(row.cells[name] for name in ENGINES) + " |" for row in REACH.values()
    ]
    return "\n".join(lines)


def expected(engine: str) -> dict[str, bool]:
    """What a job gets on that engine of the local stack."""
    return {
        probe: engine in row.on_one_machine for probe, row in REACH.items() if row.on_one_machine is not None
    }
