"""audit_report: what an audit compared, what differs, and what could not be queried."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from shared.core.ports import Ports

#: Seconds after which a difference is one.
GRACE = 300.0


@dataclass(frozen=True)
class Difference:
    """Two sources disagree about one thing, or one of them cannot be read.

    `kind`: row, drop, record, submission, settings, cluster, delivery, message.
    """

    kind: str
    what: str
    message: str


@dataclass
class Audit:
    """What was compared, in numbers; what differs; and what could not be queried."""

    counted: dict[str, int] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def differs(self, kind: str, what: str, message: str) -> None:
        """Add a difference of a kind to the report."""
        self.differences.append(Difference(kind, what, message))

    def cannot_ask(self, cluster: str) -> None:
        """Note that nothing is known of what runs there."""
        self.not_known(f"cluster {cluster} cannot be queried")

    def not_known(self, text: str) -> None:
        """Note that something could not be compared."""
        if text not in self.unknown:
            self.unknown.append(text)


def age(ports: Ports, moment: datetime) -> float:
    """Seconds since a moment, by the clock of the ports."""
    return (ports.clock() - moment) / timedelta(seconds=1)
