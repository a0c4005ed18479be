"""Claims on a team's quota: in order, never above it, and no one waits for good."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared.core.relations.claim import Claim
from shared.core.teams.document import Quota
from shared.core.teams.use import TeamUse, Total, described, exceeds

NO_USE = TeamUse("vision", {})


def claim(nodes: int = 1, gpus: int = 0) -> Claim:
    return Claim(nodes=nodes, gpus=gpus)


def test_claims_are_given_in_order_and_none_passes_a_larger_one() -> None:
    waiting = [("a", claim(2)), ("b", claim(3)), ("c", claim(1))]

    use = NO_USE.with_claims(waiting, Quota(nodes=4))

    assert list(use.claims) == ["a"]
    assert use.has_waiting
    after = use.after_ends({"a"}).with_claims(waiting[1:], Quota(nodes=4))
    assert (list(after.claims), after.has_waiting, after.total) == (["b", "c"], False, Total(2, 4, 0))


def test_a_job_that_exceeds_the_whole_quota_keeps_no_other_waiting() -> None:
    quota = Quota(gpus=4)

    use = NO_USE.with_claims([("a", claim(1, 8)), ("b", claim(1, 4))], quota)

    assert list(use.claims) == ["b"]
    assert exceeds(claim(1, 8), quota) == "it needs 8 gpus, and the quota is 4"
    assert exceeds(claim(1, 4), quota) == ""
    assert exceeds(claim(), Quota(jobs=0)) == "it needs 1 jobs, and the quota is 0"


def test_a_quota_is_described_by_its_limits() -> None:
    assert described(Quota()) == "no limit"
    assert described(Quota(jobs=2, gpus=0)) == "2 jobs, 0 gpus"


limits = st.none() | st.integers(0, 6)
quotas = st.builds(Quota, jobs=limits, nodes=limits, gpus=limits)
claims = st.builds(claim, st.integers(1, 5), st.integers(0, 5))
steps = st.lists(st.tuples(st.sampled_from(["ask", "end", "pass"]), claims, st.integers(0, 9)), max_size=40)


@given(quotas, steps)
def test_the_quota_always_holds_and_the_oldest_is_next(
    quota: Quota, steps: list[tuple[str, Claim, int]]
) -> None:
    use, waiting = NO_USE, dict[str, Claim]()
    for number, (verb, one, choice) in enumerate(steps):
        if verb == "ask":
            waiting[f"j{number}"] = one
        elif verb == "end" and use.claims:
            use = use.after_ends({list(use.claims)[choice % len(use.claims)]})
        else:
            use = use.with_claims(waiting.items(), quota)
            waiting = {job: one for job, one in waiting.items() if job not in use.claims}
        total = use.total
        for now, most in zip(total, (quota.jobs, quota.nodes, quota.gpus), strict=True):
            assert most is None or now <= most
    possible = [job for job, one in waiting.items() if not exceeds(one, quota)]
    idle = NO_USE.with_claims(waiting.items(), quota)
    assert not possible or possible[0] in idle.claims
