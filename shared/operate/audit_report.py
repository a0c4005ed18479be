"""audit_report: the counts of an audit, its differences, and what could not be queried."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from shared.core.ports import Ports

#: Seconds for which a difference may persist before it is reported.
GRACE = 300.0


@dataclass(frozen=True)
class Difference:
    """Two sources that disagree about one thing, or one that cannot be read.

    `kind`: row, drop, record, submission, settings, cluster, delivery, message.
    """

    kind: str
    what: str
    message: str


@dataclass
class Audit:
    """The numbers of compared things; the differences; and what could not be queried."""

    counted: dict[str, int] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def differs(self, kind: str, what: str, message: str) -> None:
        """Add a difference of a kind to the report."""
        self.differences.append(Difference(kind, what, message))

    def cannot_ask(self, cluster: str) -> None:
        """Note that a cluster could not be queried."""
        self.not_known(f"cluster {cluster} cannot be queried")

    def not_known(self, text: str) -> None:
        """Note that something could not be compared."""
        if text not in self.unknown:
            self.unknown.append(text)


def age(ports: Ports, moment: datetime) -> float:
    """Seconds since a moment, by the clock of the ports."""
    return (ports.clock() - moment) / timedelta(seconds=1)
