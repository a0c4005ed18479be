"""Loans between teams: which team borrows idle quota from which, and which loans a lender needs back. Pure.

A loan is a claim of a job that counts as a whole against another team's quota. Only nodes and GPUs are lent;
GPU-hours and money always count for the job's own team.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shared.core.relations.claim import Claim
from shared.core.teams.document import Quota
from shared.core.teams.persons import Persons
from shared.core.teams.use import (
    MOST,
    TeamUse,
    Total,
    by_month,
    exceeds,
    has_room,
    less,
    more,
    plus,
)

#: The most lenders of a team: its row and theirs are written in one transaction, of 4 MiB at most.
_LENDERS = 7

Requests = Sequence[tuple[str, Claim]]


@dataclass
class Party:
    """A team that may lend or borrow, with its waiting jobs, the oldest first."""

    use: TeamUse
    quota: Quota
    month: str
    weight: float = 1.0
    requests: Requests = field(default_factory=tuple)
    #: what counts against its quota
    held: Total = field(init=False)

    def __post_init__(self) -> None:
        self.held = self.use.held(self.month)

    def is_idle(self, borrower: Party) -> bool:
        """Whether it lends to a team whose quota has these limits, while there is room."""
        if borrower is self or not self.quota.lends or self.use.waiting or self.use.loans:
            return False
        theirs, mine = borrower.quota, self.quota
        limits = [(theirs.jobs, mine.jobs), (theirs.nodes, mine.nodes), (theirs.gpus, mine.gpus)]
        # The lender's quota has to limit everything that the borrower's limits, or it would lend without end.
        return all(limit is None or own is not None for limit, own in limits)


def lend(parties: Mapping[str, Party]) -> None:
    """Give waiting jobs of borrowing teams the idle quota of other teams; changes the `use` of each.

    In turn: the team with the fewest loans for its weight is next, with its oldest job. No job overtakes
    another one of its team.
    """
    lines = {name: iter(one.requests) for name, one in parties.items() if _may_borrow(one)}
    turns = [(len(parties[name].use.loans) / parties[name].weight, name) for name in lines]
    heapq.heapify(turns)
    while turns:
        name = heapq.heappop(turns)[1]
        party = parties[name]
        if _give_next(party, lines[name], parties):
            heapq.heappush(turns, (len(party.use.loans) / party.weight, name))


def recalls(use: TeamUse, requests: Requests, quota: Quota, month: str) -> list[str]:
    """The loans that a lender needs back for its waiting jobs, the youngest first; only ones that help."""
    if not use.lent or not requests:
        return []
    lent, total = dict(use.lent), use.held(month)
    for one in lent.values():
        total = less(total, one.claim)
    free = total
    for job, claim in requests:
        if job in use.claims or job in use.held_back or exceeds(claim, quota):
            continue
        after = plus(total, claim)
        if not has_room(after, quota):
            break
        total = after
    if total == free:
        return []  # no job has room, even without the loans
    for one in lent.values():
        total = more(total, one.claim)
    needed: list[str] = []
    for job, one in reversed(lent.items()):
        if has_room(total, quota, at_once=True):
            break
        total = less(total, one.claim)
        needed.append(job)
    return needed


def _may_borrow(party: Party) -> bool:
    # A team recalls its own loans before it borrows from others.
    return party.quota.borrows and bool(party.use.waiting) and not party.use.lent


def _give_next(party: Party, line: Iterator[tuple[str, Claim]], parties: Mapping[str, Party]) -> bool:
    """Give the next job of a team a claim, on its own quota or another one; whether it has one now."""
    use = party.use
    for job, claim in line:
        if job in use.claims or exceeds(claim, party.quota):
            continue
        if Persons(use.claims, party.quota, use.held_back.values()).hold_back(claim):
            continue
        after = plus(party.held, claim)
        mine = replace(use, claims={**use.claims, job: claim}, waiting=_others(use.waiting, job))
        if use.size < MOST and has_room(after, party.quota):
            party.use, party.held = mine, after
            return True
        lender = _lender(party, claim, parties.values())
        if lender is None or not by_month(after, party.quota):
            return False
        party.use = replace(mine, loans={**use.loans, job: lender.use.team})
        party.held, lender.held = less(after, claim), more(lender.held, claim)
        lender.use = lender.use.with_loan(job, use.team, claim)
        return True
    return False


def _lender(party: Party, claim: Claim, others: Iterable[Party]) -> Party | None:
    """The one that has lent least, of those with room."""
    lenders = set(party.use.loans.values())
    possible = [
        one
        for one in others
        if one.is_idle(party)
        and (one.use.team in lenders or len(lenders) < _LENDERS)
        and one.use.size + 2 <= MOST
        and party.use.size + 2 <= MOST
        and has_room(more(one.held, claim), one.quota, at_once=True)
    ]
    return min(possible, key=lambda one: (len(one.use.lent), one.use.team), default=None)


def _others(waiting: tuple[str, ...], job: str) -> tuple[str, ...]:
    return tuple(one for one in waiting if one != job)
