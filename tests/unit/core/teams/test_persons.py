"""What one person may have of a quota: who waits for their own jobs, and who does not because of that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.storage.teams import _row_of, use_of
from shared.core.relations.claim import Claim
from shared.core.teams.document import PersonQuota, Quota
from shared.core.teams.loans import Party, lend, recalls
from shared.core.teams.persons import person_of
from shared.core.teams.use import TeamUse, described, exceeds

MONTH = "2026-01"


def claim(person: str, *, nodes: int = 1, gpus: int = 0) -> Claim:
    return Claim(nodes=nodes, gpus=gpus, person=person)


def quota(per_person: int | None, *, jobs: int | None = None, borrows: bool = False) -> Quota:
    return Quota(jobs=jobs, perPerson=PersonQuota(jobs=per_person), borrows=borrows)


def given_out(use: TeamUse) -> list[str]:
    return sorted(use.claims)


def test_a_person_at_their_limit_waits_and_keeps_no_other_waiting() -> None:
    line = [("a1", claim("a")), ("a2", claim("a")), ("b1", claim("b")), ("a3", claim("a"))]

    use = TeamUse("t", {}).with_claims(line, quota(1, jobs=3), MONTH)

    assert given_out(use) == ["a1", "b1"]
    assert (use.waiting, use.held_back) == ((), {"a2": "a", "a3": "a"})


def test_no_job_of_a_person_passes_a_larger_one_of_theirs() -> None:
    limit = Quota(perPerson=PersonQuota(gpus=4))
    line = [("a1", claim("a", gpus=2)), ("a2", claim("a", gpus=4)), ("a3", claim("a", gpus=1))]

    use = TeamUse("t", {}).with_claims(line, limit, MONTH)

    assert given_out(use) == ["a1"]
    assert [*use.held_back] == ["a2", "a3"]


def test_at_a_door_a_new_job_does_not_pass_those_of_its_person_that_wait() -> None:
    limit = Quota(perPerson=PersonQuota(gpus=4))
    line = [("a1", claim("a", gpus=2)), ("a2", claim("a", gpus=4))]
    use = TeamUse("t", {}).with_claims(line, limit, MONTH)

    after = use.with_claims([("a3", claim("a", gpus=1))], limit, MONTH)
    other = use.with_claims([("b1", claim("b", gpus=4))], limit, MONTH)

    assert given_out(after) == ["a1"]
    assert {**after.held_back} == {"a2": "a", "a3": "a"}
    assert given_out(other) == ["a1", "b1"]
    assert {**other.held_back} == {"a2": "a"}


def test_jobs_from_before_there_were_persons_are_counted_for_none() -> None:
    use = TeamUse("t", {"old": claim("")}).with_claims([("n", claim("")), ("m", claim(""))], quota(1), MONTH)

    assert given_out(use) == ["m", "n", "old"]


def test_a_job_that_exceeds_what_one_person_may_have_is_refused_and_keeps_none_waiting() -> None:
    limit = Quota(gpus=16, perPerson=PersonQuota(gpus=4))
    large = claim("a", nodes=2, gpus=8)

    assert exceeds(large, limit) == "it may need 2 nodes and 8 GPUs, and each person may have 4 GPUs"
    assert exceeds(claim("a", gpus=4), limit) == ""
    use = TeamUse("t", {}).with_claims([("large", large), ("small", claim("a", gpus=4))], limit, MONTH)
    assert (given_out(use), use.waiting, {**use.held_back}) == (["small"], (), {})


def test_the_quota_says_what_each_person_may_have() -> None:
    limit = Quota(gpus=16, perPerson=PersonQuota(jobs=5, gpus=4))

    assert described(limit) == "16 GPUs at once; 5 jobs, 4 GPUs at once for each person"


def test_who_waits_for_their_own_jobs_borrows_nothing_and_needs_no_loan_back() -> None:
    lender = Party(TeamUse("l", {}), Quota(jobs=5, lends=True), MONTH)
    line = [("a1", claim("a")), ("a2", claim("a")), ("b1", claim("b"))]
    use = TeamUse("t", {}).with_claims(line, quota(1, jobs=1, borrows=True), MONTH)
    party = Party(use, quota(1, jobs=1, borrows=True), MONTH, requests=line)

    lend({"l": lender, "t": party})

    assert given_out(party.use) == ["a1", "b1"]
    assert [*party.use.loans] == ["b1"]
    own = [("x1", claim("x")), ("x2", claim("x"))]
    back = lender.use.with_claims(own, quota(1, jobs=5), MONTH)
    assert recalls(back, own, quota(1, jobs=5), MONTH) == []


def test_a_row_keeps_who_waits_and_whose_the_claims_are() -> None:
    line = [("a1", claim("a")), ("a2", claim("a"))]
    use = TeamUse("t", {}).with_claims(line, quota(1), MONTH)

    assert use_of(_row_of(use)) == use


def test_persons_are_told_apart_by_their_ids() -> None:
    assert person_of("http:ann") != person_of("http:bob")
    assert person_of("http:ann") == person_of("http:ann")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 4)), max_size=20), st.integers(1, 6))
def test_no_person_ever_has_more_and_everyone_who_may_is_served(
    jobs: list[tuple[str, int]], most: int
) -> None:
    limit = Quota(perPerson=PersonQuota(nodes=most))
    line = [(f"j{n}", claim(person, nodes=nodes)) for n, (person, nodes) in enumerate(jobs)]
    use = TeamUse("t", {})
    for size in range(len(line)):
        use = use.with_claims(line[: size + 1], limit, MONTH)
        for person in "abc":
            assert sum(one.nodes for one in use.claims.values() if one.person == person) <= most
    for person in "abc":
        own = [one for one in line if one[1].person == person and one[1].nodes <= most]
        given_first = [name in use.claims for name, _ in own]
        assert given_first == sorted(given_first, reverse=True)
        if own:
            assert own[0][0] in use.claims


@pytest.mark.parametrize("limit", [Quota(), Quota(perPerson=PersonQuota())])
def test_without_a_limit_no_person_waits(limit: Quota) -> None:
    use = TeamUse("t", {}).with_claims([("a1", claim("a")), ("a2", claim("a"))], limit, MONTH)

    assert given_out(use) == ["a1", "a2"]
