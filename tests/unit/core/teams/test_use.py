"""Claims on a team's quota: in order, never above it, and no one waits for good."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.cost.usage import Rate, Usage, month_of
from shared.core.job import Entry, Job, JobState
from shared.core.relations.claim import Claim
from shared.core.teams.document import Quota
from shared.core.teams.use import TeamUse, Total, Used, described, exceeds

NO_USE = TeamUse("vision", {})
NOVEMBER = "2026-11"
END = datetime(2026, 11, 30, 23, tzinfo=UTC)


def claim(nodes: int = 1, gpus: int = 0, gpu_hours: float = 0.0, cost: float | None = 0.0) -> Claim:
    return Claim(nodes=nodes, gpus=gpus, gpu_hours=gpu_hours, cost=cost)


def quota_of(**members: float | None) -> Quota:
    return Quota.model_validate(members)


def ended(name: str, hours: float = 1.0, nodes: int = 1, at: datetime = END) -> Job:
    members = {"started": at - timedelta(hours=hours), "ended": at, "created": at, "due": at, "name": name}
    members |= {"id": name, "key": name, "payload": "", "door": "http", "experiment": "e", "cluster": "c"}
    rate = Rate(per_hour=2.0 * nodes, currency="USD")
    return Job.model_validate(
        members | {"state": JobState.FAILED, "nodes": nodes, "gpus": 4 * nodes, "rate": rate}
    )


def test_claims_are_given_in_order_and_none_passes_a_larger_one() -> None:
    waiting = [("a", claim(2)), ("b", claim(3)), ("c", claim(1))]

    use = NO_USE.with_claims(waiting, Quota(nodes=4), NOVEMBER)

    assert (list(use.claims), use.waiting) == (["a"], ("b", "c"))
    after = use.after_ends([ended("a")]).with_claims(waiting[1:], Quota(nodes=4), NOVEMBER)
    assert (list(after.claims), after.waiting) == (["b", "c"], ())
    assert after.total("2026-12") == Total(2, 4, 0)


def test_a_job_that_exceeds_the_whole_quota_keeps_no_other_waiting() -> None:
    use = NO_USE.with_claims([("a", claim(1, 8)), ("b", claim(1, 4))], Quota(gpus=4), NOVEMBER)

    assert (list(use.claims), use.waiting) == (["b"], ())


@pytest.mark.parametrize(
    ("one", "quota", "text"),
    [
        (claim(1, 8), Quota(gpus=4), "it may need 8 GPUs, and the quota is 4"),
        (claim(1, 4), Quota(gpus=4), ""),
        (claim(), Quota(jobs=0), "it may need 1 jobs, and the quota is 0"),
        (
            claim(gpu_hours=30.5),
            quota_of(gpuHours=30),
            "it may need 30.5 GPU-hours, and the quota of a month is 30",
        ),
        (claim(cost=1200), quota_of(budget=1000), "it may cost 1,200, and the budget of a month is 1,000"),
        (
            claim(cost=12.5),
            quota_of(jobCost=12),
            "it may cost 12.5 if it runs as long as it may, and 12 are allowed",
        ),
        (claim(cost=12), quota_of(jobCost=12, budget=12), ""),
        (
            claim(cost=None),
            quota_of(budget=1),
            "the team has a budget, and the price of the job's cluster is not known",
        ),
        (claim(cost=None), quota_of(gpuHours=1), ""),
    ],
)
def test_what_a_single_job_exceeds(one: Claim, quota: Quota, text: str) -> None:
    assert exceeds(one, quota) == text


def test_a_quota_is_described_by_its_limits() -> None:
    assert described(Quota()) == "without limit"
    assert described(Quota(jobs=2, gpus=0)) == "2 jobs, 0 GPUs at once"
    monthly = quota_of(gpuHours=1500, budget=20.5)
    assert described(monthly) == "1,500 GPU-hours and a budget of 20.5 a month"


def test_an_end_is_counted_once_in_its_month_with_what_it_used() -> None:
    use = NO_USE.with_claims([("a", claim(2, 8, 40.0, 100.0)), ("b", claim())], Quota(), NOVEMBER)
    assert use.total(NOVEMBER) == Total(2, 3, 8, 40.0, 100.0)

    once = use.after_ends([ended("a", hours=1.5, nodes=2), ended("stranger")])
    twice = once.after_ends([ended("a", hours=1.5, nodes=2)])

    assert once.months == {NOVEMBER: Usage(1, 3.0, 12.0, 6.0)}
    assert twice == once
    assert (once.spent(NOVEMBER), once.spent("2026-12")) == (6.0, 0.0)
    assert once.total(NOVEMBER) == Total(1, 1, 0, 12.0, 6.0)
    assert (use.used(NOVEMBER), once.used(NOVEMBER)) == (Used(0.0, 0.0), Used(12.0, 6.0))


def test_a_record_keeps_thirteen_months() -> None:
    use = NO_USE
    for number in range(20):
        name, at = f"j{number}", END + timedelta(days=31 * number)
        use = use.with_claims([(name, claim())], Quota(), NOVEMBER).after_ends([ended(name, at=at)])

    assert len(use.months) == 13
    assert max(use.months) == "2028-07"


def test_a_month_is_that_of_utc() -> None:
    tokyo = timezone(timedelta(hours=9))
    assert month_of(datetime(2026, 12, 1, 8, 59, tzinfo=tokyo)) == NOVEMBER
    assert month_of(datetime(2026, 12, 1, 9, tzinfo=tokyo)) == "2026-12"


@given(st.lists(st.tuples(st.integers(-30_000, 30_000), st.integers(0, 60)), max_size=20))
def test_every_end_counts_in_a_month_in_which_its_job_was_here(ends: list[tuple[int, int]]) -> None:
    use = NO_USE
    for number, (days, later) in enumerate(ends):
        recorded = END + timedelta(days=later)
        entry = Entry(sequence=2, state=JobState.FAILED, at=recorded, token="t")
        job = ended(f"j{number}").model_copy(
            update={"ended": END + timedelta(days=days), "history": (entry,)}
        )
        before = use.with_claims([(job.id, claim())], Quota(), NOVEMBER)
        use = before.after_ends([job])
        (month,) = [one for one in use.months if use.months[one] != before.months.get(one)]
        assert NOVEMBER <= month <= month_of(recorded)
    assert sum(one.jobs for one in use.months.values()) == len(ends)


limits = st.none() | st.integers(0, 6)
amounts = st.none() | st.integers(0, 12)
quotas = st.builds(quota_of, jobs=limits, nodes=limits, gpus=limits, gpuHours=amounts, budget=amounts)
claims = st.builds(claim, st.integers(1, 5), st.integers(0, 5), st.integers(0, 8), st.integers(0, 8))
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
            name = list(use.claims)[choice % len(use.claims)]
            longest = use.claims[name].gpu_hours / 4  # as long as it may: a node has four GPUs
            use = use.after_ends([ended(name, min(longest, (use.claims[name].cost or 0.0) / 2))])
        else:
            use = use.with_claims(waiting.items(), quota, NOVEMBER)
            waiting = {job: one for job, one in waiting.items() if job not in use.claims}
            assert list(use.waiting) == [job for job, one in waiting.items() if not exceeds(one, quota)]
        most = (quota.jobs, quota.nodes, quota.gpus, quota.gpu_hours, quota.budget)
        for now, limit in zip(use.total(NOVEMBER), most, strict=True):
            assert limit is None or now <= limit + 1e-9
    idle = NO_USE.with_claims(waiting.items(), quota, NOVEMBER)
    possible = [job for job, one in waiting.items() if not exceeds(one, quota)]
    assert not possible or possible[0] in idle.claims
