"""The jobs of one list by their names, as far as they can be read. Pure.

An unreadable job does not hide the others. It decides nothing about its own name; and if its name cannot be
read either, a name that is missing in the list may still exist on the cluster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from shared.core.errors import Busy
from shared.engines.slurm.wire.dialect import Copy


@dataclass(frozen=True)
class Queue:
    """Our user's jobs in one list."""

    copies: Mapping[str, Sequence[Copy]]
    #: the names of jobs that cannot be read
    unreadable: frozenset[str] = frozenset()
    #: whether there is a job whose name cannot be read, either
    has_nameless: bool = False

    def __iter__(self) -> Iterator[Copy]:
        """Every job that can be read."""
        return (copy for copies in self.copies.values() for copy in copies)

    def named(self, name: str) -> Sequence[Copy]:
        """The jobs of that name. Raises Busy if one of them cannot be read."""
        if name in self.unreadable:
            raise Busy(f"Slurm describes {name} in a form that cannot be read")
        return self.copies.get(name, ())

    def check_absent(self, name: str) -> None:
        """Raises Busy if a job of that name may be in the list all the same."""
        self.named(name)
        if self.has_nameless:
            raise Busy(f"Slurm lists a job in a form that cannot be read, which may be {name}")


def in_line(copies: Sequence[Copy]) -> list[Copy]:
    """The jobs of all users, each that waits with the number of those before it in its partition."""
    waiting = defaultdict(list)
    for copy in copies:
        if "PENDING" in copy.states and copy.priority:  # without a priority it is held
            waiting[copy.partition].append(copy)
    ahead = {
        copy.id: position
        for line in waiting.values()
        for position, copy in enumerate(sorted(line, key=lambda one: (-one.priority, one.id)))
    }
    return [replace(copy, ahead=ahead[copy.id]) if ahead.get(copy.id) else copy for copy in copies]
