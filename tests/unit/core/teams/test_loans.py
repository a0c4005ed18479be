"""Loans between teams: never above what both quotas allow, never against a lender that waits, never torn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.core.relations.claim import Claim
from shared.core.teams.document import Quota
from shared.core.teams.loans import Party, lend, recalls
from shared.core.teams.use import MOST, TeamUse, exceeds
from tests.breadth import examples
from tests.unit.core.teams.test_use import NOVEMBER, claim, ended

NO_QUOTA = Quota()


def party(name: str, *requests: tuple[str, Claim], weight: float = 1.0, **quota: Any) -> Party:
    """A team after a pass of its own."""
    limits = Quota.model_validate(quota)
    use = TeamUse(name, {}).with_claims(requests, limits, NOVEMBER)
    return Party(use, limits, NOVEMBER, weight, requests)


def jobs(name: str, number: int, nodes: int = 1) -> list[tuple[str, Claim]]:
    return [(f"{name}{n}", claim(nodes)) for n in range(number)]


def loans(*parties: Party) -> list[dict[str, str]]:
    lend({one.use.team: one for one in parties})
    return [dict(one.use.loans) for one in parties]


def test_a_job_without_room_gets_what_another_team_leaves_idle() -> None:
    borrower, lender = party("b", *jobs("b", 4), jobs=1, borrows=True), party("l", jobs=2, lends=True)

    assert loans(borrower, lender) == [{"b1": "l", "b2": "l"}, {}]
    assert borrower.use.waiting == ("b3",)
    assert {job: one.team for job, one in lender.use.lent.items()} == {"b1": "b", "b2": "b"}
    assert (borrower.use.held(NOVEMBER)[:2], lender.use.held(NOVEMBER)[:2]) == ((1, 1), (2, 2))


@pytest.mark.parametrize(
    ("borrower", "lender"),
    [
        ({"jobs": 1}, {"jobs": 2, "lends": True}),
        ({"jobs": 1, "borrows": True}, {"jobs": 2}),
        ({"jobs": 1, "borrows": True}, {"nodes": 2, "lends": True}),
        ({"jobs": 1, "borrows": True}, {"jobs": 0, "lends": True}),
        ({"jobs": 1, "gpuHours": 0, "borrows": True}, {"jobs": 2, "lends": True}),
    ],
)
def test_who_does_not_borrow_or_lend_or_limit_has_no_part(
    borrower: dict[str, Any], lender: dict[str, Any]
) -> None:
    requests = [(name, claim(gpu_hours=1.0 if name == "b1" else 0.0)) for name in ("b0", "b1")]
    if "gpuHours" not in borrower:
        requests = jobs("b", 2)
    assert loans(party("b", *requests, **borrower), party("l", **lender)) == [{}, {}]


def test_a_lender_that_waits_itself_lends_nothing() -> None:
    lender = party("l", ("l0", claim(2)), ("l1", claim(2)), nodes=3, lends=True)

    assert loans(party("b", *jobs("b", 2), nodes=1, borrows=True), lender) == [{}, {}]


def test_borrowers_take_turns_by_their_weights() -> None:
    first = party("a", *jobs("a", 9), jobs=1, borrows=True)
    second = party("b", *jobs("b", 9), jobs=1, borrows=True, weight=2.0)

    given_loans = loans(first, second, party("l", jobs=6, lends=True))

    assert [len(one) for one in given_loans] == [2, 4, 0]


def test_a_lender_needs_the_youngest_loans_back_and_no_more_than_help() -> None:
    borrower = party(
        "b", ("b0", claim(3)), ("b1", claim(3)), ("b2", claim(2)), ("b3", claim(1)), nodes=3, borrows=True
    )
    lender = party("l", nodes=6, lends=True)
    loans(borrower, lender)
    assert list(lender.use.lent) == ["b1", "b2", "b3"]
    limits = lender.quota

    assert recalls(lender.use, [("l0", claim(1))], limits, NOVEMBER) == ["b3"]
    assert recalls(lender.use, [("l0", claim(2))], limits, NOVEMBER) == ["b3", "b2"]
    assert recalls(lender.use, [("l0", claim(7))], limits, NOVEMBER) == []
    assert recalls(lender.use, [], limits, NOVEMBER) == []
    assert recalls(lender.use, [("l0", claim(5)), ("l1", claim(2))], limits, NOVEMBER) == ["b3", "b2", "b1"]


def test_a_smaller_quota_ends_no_loan_of_which_no_job_gets_room() -> None:
    borrower = party("b", *jobs("b", 3), nodes=1, borrows=True)
    lender = party("l", ("own", claim(2)), nodes=4, lends=True)
    loans(borrower, lender)
    assert list(lender.use.lent) == ["b1", "b2"]

    assert recalls(lender.use, [("l0", claim(1))], Quota(nodes=2, lends=True), NOVEMBER) == []
    assert recalls(lender.use, [("l0", claim(1))], Quota(nodes=3, lends=True), NOVEMBER) == ["b2", "b1"]


def test_a_loan_is_repaid_when_the_borrower_has_room_again() -> None:
    borrower, lender = party("b", *jobs("b", 2), jobs=1, borrows=True), party("l", jobs=1, lends=True)
    loans(borrower, lender)

    use = borrower.use.after_ends([ended("b0")]).repaid(borrower.quota, NOVEMBER)

    assert (dict(use.loans), set(use.claims)) == ({}, {"b1"})
    assert borrower.use.repaid(borrower.quota, NOVEMBER) is borrower.use


def test_a_claim_that_was_given_back_is_counted_by_the_end_once() -> None:
    use = TeamUse("b", {"a": claim()}, loans={"a": "l"})
    job = ended("a", hours=2.0)
    back = job.model_copy(
        update={"claim": claim().given_back, "started": None, "ended": None, "ran_before": 7200.0}
    )

    returned = use.after_returns([back])
    assert (dict(returned.claims), dict(returned.loans)) == ({}, {})
    assert returned.total(NOVEMBER)[:4] == (0, 0, 0, 8.0)
    assert returned.after_returns([back]) == returned

    again = replace(returned, claims={"a": claim().given_back})
    assert again.after_returns([back]) == again
    for one in (returned, again):
        after = one.after_ends([job]).after_ends([job])
        assert (after.months[NOVEMBER].jobs, after.months[NOVEMBER].node_hours) == (1, 2.0)
        assert (dict(after.claims), dict(after.returned)) == ({}, {})


def test_a_row_that_is_full_gets_no_claims_and_no_loans() -> None:
    full = TeamUse("b", dict(jobs("x", MOST)))

    assert full.with_claims(jobs("b", 1), NO_QUOTA, NOVEMBER).waiting == ("b0",)
    lender = Party(full, Quota(jobs=9_000, lends=True), NOVEMBER)
    assert loans(party("b", *jobs("b", 2), jobs=1, borrows=True), lender) == [{}, {}]


limits = st.integers(0, 5)
quotas = st.fixed_dictionaries(
    {"jobs": limits, "nodes": limits, "lends": st.booleans(), "borrows": st.booleans()}
)
acts = st.lists(
    st.tuples(st.sampled_from(["ask", "end", "pass"]), st.integers(0, 2), st.integers(1, 4)), max_size=40
)


class Teams:
    """Three teams whose passes run one after the other; what is recalled is given back at once."""

    def __init__(self, quotas: list[dict[str, Any]]) -> None:
        self.quotas = {name: Quota.model_validate(one) for name, one in zip("abc", quotas, strict=True)}
        self.uses = {name: TeamUse(name, {}) for name in "abc"}
        self.waiting: dict[str, dict[str, Claim]] = {name: {} for name in "abc"}

    def settle(self, name: str, use: TeamUse) -> None:
        """Write a team's row, and the rows of lenders whose loans are over."""
        over = self.uses[name].loans.keys() - use.loans.keys()
        self.uses[name] = use
        self.uses = {team: one.after_loans(over) for team, one in self.uses.items()}

    def end(self, name: str, choice: int) -> None:
        if claims := sorted(self.uses[name].claims):
            self.settle(name, self.uses[name].after_ends([ended(claims[choice % len(claims)])]))

    def pass_over(self) -> None:
        for name, quota in self.quotas.items():
            self._own(name, quota)
            needed = recalls(self.uses[name], [*self.waiting[name].items()], quota, NOVEMBER)
            for job in needed:
                borrower, one = self.uses[name].lent[job]
                other = self.uses[borrower]
                claims = {other_job: mine for other_job, mine in other.claims.items() if other_job != job}
                mine = {other_job: lender for other_job, lender in other.loans.items() if other_job != job}
                self.settle(borrower, replace(other, claims=claims, loans=mine))
                self.waiting[borrower] = {job: one.given_back, **self.waiting[borrower]}
            self._own(name, quota)
        parties = {
            name: Party(use, self.quotas[name], NOVEMBER, 1.0, [*self.waiting[name].items()])
            for name, use in self.uses.items()
        }
        lend(parties)
        self.uses = {name: one.use for name, one in parties.items()}
        for name, use in self.uses.items():
            self.waiting[name] = {
                job: one for job, one in self.waiting[name].items() if job not in use.claims
            }

    def _own(self, name: str, quota: Quota) -> None:
        use = self.uses[name].repaid(quota, NOVEMBER)
        self.settle(name, use.with_claims(self.waiting[name].items(), quota, NOVEMBER))
        self.waiting[name] = {job: one for job, one in self.waiting[name].items() if job not in use.claims}

    def check(self) -> None:
        for name, use in self.uses.items():
            quota, held = self.quotas[name], use.held(NOVEMBER)
            assert held.jobs <= (quota.jobs or 0)
            assert held.nodes <= (quota.nodes or 0)
            assert use.loans.keys() <= use.claims.keys()
            assert all(job in self.uses[lender].lent for job, lender in use.loans.items())
            assert all(self.uses[one.team].loans[job] == name for job, one in use.lent.items())


@settings(max_examples=examples(200), deadline=None)
@given(st.tuples(quotas, quotas, quotas), acts)
def test_no_quota_is_exceeded_no_loan_is_torn_and_everyone_is_served(
    quotas: tuple[dict[str, Any], ...], steps: list[tuple[str, int, int]]
) -> None:
    teams = Teams([*quotas])
    for number, (verb, index, nodes) in enumerate(steps):
        name = "abc"[index]
        if verb == "ask":
            teams.waiting[name][f"{name}{number}"] = claim(nodes)
        elif verb == "end":
            teams.end(name, nodes)
        else:
            teams.pass_over()
        teams.check()
    for (
        name,
        quota,
    ) in teams.quotas.items():  # a team's oldest job that fits is served, also while others borrow
        possible = [one for one in teams.waiting[name].values() if not exceeds(one, quota)]
        use = teams.uses[name]
        own = sum(one.nodes for job, one in use.claims.items() if job not in use.loans)
        number = len(use.claims) - len(use.loans)
        teams.pass_over()
        if possible and own + possible[0].nodes <= (quota.nodes or 0) and number < (quota.jobs or 0):
            assert len(teams.uses[name].claims) >= number + 1
        teams.check()
