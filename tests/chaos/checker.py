"""The verdict: what the engine, the ledger and the receiver say afterwards, against what was sent. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

#: Shown of each kind of violation; the count is complete.
_SHOWN = 5


@dataclass(frozen=True)
class Record:
    """What the ledger says of one job."""

    id: str
    name: str
    state: str
    attempts: int
    #: Rows that wait for something: its index row, outbox rows.
    waiting: int = 0


@dataclass(frozen=True)
class Delivery:
    """One delivery that the receiver saw."""

    job: str
    event: str
    terminal: bool
    verified: bool
    #: The receiver's answer was a success.
    accepted: bool
    #: A digest of the body.
    body: str


@dataclass
class Verdict:
    """The numbers and the violations; nothing is wrong when there are none."""

    attempted: int = 0
    accepted: int = 0
    lost: list[str] = field(default_factory=list)
    duplicated: list[str] = field(default_factory=list)
    undelivered: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether the promise held."""
        return not (self.lost or self.duplicated or self.undelivered or self.other)

    def lines(self) -> list[str]:
        counts = (
            ("attempted", self.attempted),
            ("accepted", self.accepted),
            ("lost", len(self.lost)),
            ("duplicated", len(self.duplicated)),
            ("undelivered", len(self.undelivered)),
            ("other violations", len(self.other)),
        )
        result = [f"{name:<18}{count:>7}" for name, count in counts]
        for kind in ("lost", "duplicated", "undelivered", "other"):
            some: list[str] = getattr(self, kind)
            result += [f"  {kind}: {one}" for one in some[:_SHOWN]]
        return result


def judge(
    messages: Sequence[str],
    records: Sequence[Record],
    started: Iterable[tuple[str, str]],
    reports: Iterable[Delivery],
    begun_again: Mapping[str, int] | None = None,
) -> Verdict:
    """`messages`: names of the jobs that a door acknowledged; `started`: job id and attempt of each start.

    `begun_again`: token of an attempt → how often its cluster had to begin it again.
    """
    verdict = Verdict(attempted=len(messages), accepted=len(records))
    names = Counter(record.name for record in records)
    verdict.lost += [f"{name} has no record" for name in messages if name not in names]
    verdict.duplicated += [f"{name} has {count} records" for name, count in names.items() if count > 1]
    verdict.other += [f"{name} was never sent" for name in names.keys() - set(messages)]
    _judge_starts(verdict, records, started, begun_again or {})
    _judge_deliveries(verdict, records, reports)
    for record in records:
        if record.state != "succeeded":
            verdict.lost.append(f"{record.name} is {record.state}")
        if record.waiting:
            verdict.other.append(f"{record.name} has ended and {record.waiting} rows still wait")
    return verdict


def _judge_starts(
    verdict: Verdict,
    records: Sequence[Record],
    started: Iterable[tuple[str, str]],
    begun_again: Mapping[str, int],
) -> None:
    starts: dict[str, Counter[str]] = defaultdict(Counter)
    for job, attempt in started:
        starts[job][attempt] += 1
    for record in records:
        attempts = starts.pop(record.id, Counter())
        if not attempts:
            verdict.lost.append(f"{record.name} never ran")
        if len(attempts) > record.attempts:
            verdict.duplicated.append(f"{record.name} ran {len(attempts)} attempts of {record.attempts}")
        verdict.duplicated += [
            f"{record.name} ran {count} times in attempt {attempt}"
            for attempt, count in attempts.items()
            if count > 1 + begun_again.get(f"{record.id}.{attempt}", 0)
        ]
    verdict.other += [f"the cluster ran {job}, which has no record" for job in starts]


def _judge_deliveries(verdict: Verdict, records: Sequence[Record], reports: Iterable[Delivery]) -> None:
    ends: dict[str, set[str]] = defaultdict(set)
    bodies: dict[str, set[str]] = defaultdict(set)
    for one in reports:
        if not one.verified:
            verdict.other.append(f"the signature of {one.event} did not verify")
            continue
        bodies[one.event].add(one.body)
        if one.terminal and one.accepted:
            ends[one.job].add(one.event)
    for record in records:
        events = ends[record.id]
        if not events:
            verdict.undelivered.append(f"no receiver took the end of {record.name}")
        if len(events) > 1:
            verdict.duplicated.append(f"the end of {record.name} was reported under {len(events)} ids")
    verdict.other += [f"event {event} has {len(b)} bodies" for event, b in bodies.items() if len(b) > 1]
