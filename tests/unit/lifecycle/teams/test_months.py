"""What the jobs of a team use in a month: counted once, at their ends, by the price of their acceptance."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from shared.core.caller import KEY_HOLDER, READ_ALL, SUBMIT, Caller
from shared.core.cost.prices import Price
from shared.core.cost.usage import Rate, Usage
from shared.core.engine import Cluster
from shared.core.errors import Unavailable
from shared.core.facts import Allotted, ClusterFacts
from shared.core.job import Job, JobState, Reason
from shared.core.pacing.memo import Memo
from shared.core.teams.document import Quota, Teams
from shared.core.teams.share import Share
from shared.core.teams.use import TeamUse
from shared.core.view import summary
from shared.intake.desk.deployment_limits import over_quota
from shared.intake.message import read_request
from shared.lifecycle.teams.lending import recalled
from shared.operate.common_waits import as_it_stands
from shared.operate.teams import usage
from tests.unit.lifecycle.teams.test_claims import ask, end, share, states
from tests.unit.lifecycle.teams.test_lending import Unwritable
from tests.unit.world import CLUSTER, Engines, World, job_json

#: As the jobs of these tests run at most: an hour.
HOUR = "PT1H"
JANUARY = "2026-01"


def _short(one: object) -> str:
    return f"{one}"[:9]


@pytest.fixture
def world() -> World:
    """Nodes of four GPUs, each for three dollars an hour."""
    world = World()
    cluster = Cluster(CLUSTER.name, CLUSTER.engine, CLUSTER.id, ClusterFacts(gpus=4))
    world.use(engines=Engines(world.engine, {"dev": cluster}))
    price = Price(cluster="dev", currency="USD", per_hour=3.0, date=date(2026, 1, 1), source="test")
    world.policy(prices=(price,))
    return world


async def run_for(world: World, job: Job, seconds: float, **how: Any) -> None:
    """From its start to its end, as its cluster reports both."""
    target = (await world.job(job.id)).fixed_target
    world.engine.set_state(target.name, JobState.RUNNING, started=world.now)
    await world.make_pass(seconds)
    state = how.pop("state", JobState.SUCCEEDED)
    world.engine.set_state(target.name, state, ended=world.now, **how)
    await world.make_pass(0)


async def test_an_end_is_counted_with_the_time_that_the_job_ran(world: World) -> None:
    await share(world, gpuHours=100)
    job = await ask(world, 1, nodes=2, longest=HOUR)
    assert (job.rate, job.gpus) == (Rate(per_hour=6.0, currency="USD"), 8)

    before = await world.ports.teams.use("vision")
    await run_for(world, job, 1800)
    after = await world.ports.teams.use("vision")

    assert before.total(JANUARY)[3:] == (8.0, 6.0)
    assert after.months == {JANUARY: Usage(1, 1.0, 4.0, 3.0)}
    assert after.total(JANUARY)[3:] == (4.0, 3.0)
    assert (await world.job(job.id)).usage == Usage(1, 1.0, 4.0, 3.0)


async def test_a_job_that_shares_its_node_is_counted_with_what_its_scheduler_gave_it(world: World) -> None:
    await share(world, gpuHours=100)
    world.engine.own_facts = ClusterFacts(allotted=Allotted(1, 0.25))
    job = await ask(world, 1, longest=HOUR)
    assert (job.rate, job.gpus, job.part) == (Rate(per_hour=0.75, currency="USD"), 1, 0.25)
    assert (await world.ports.teams.use("vision")).total(JANUARY)[2:] == (1, 1.0, 0.75)

    target = (await world.job(job.id)).fixed_target
    allotted = Allotted(2, 0.5)
    world.engine.set_state(target.name, JobState.RUNNING, started=world.now, allotted=allotted)
    await world.make_pass(1800)
    running = await world.job(job.id)
    assert (running.rate, running.gpus, running.part) == (Rate(per_hour=1.5, currency="USD"), 2, 0.5)
    world.engine.set_state(target.name, JobState.SUCCEEDED, ended=world.now, allotted=allotted)
    await world.make_pass(0)

    assert (await world.ports.teams.use("vision")).months == {JANUARY: Usage(1, 0.25, 1.0, 0.75)}
    assert world.receipt(job)["nodeHours"] == 0.25


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_job_whose_start_no_pass_saw_counts_with_what_the_scheduler_gave_it(
    world: World, *, is_known: bool
) -> None:
    world.engine.own_facts = ClusterFacts(allotted=Allotted(1, 0.25))
    job = (await world.message({"spec": job_json()})).job
    allotted = Allotted(2, 0.5) if is_known else Allotted(None, None)
    times = {"started": world.now, "ended": world.now + timedelta(hours=1)}
    world.engine.set_state(job.fixed_target.name, JobState.SUCCEEDED, **times, allotted=allotted)
    await world.make_pass(3600)

    expected = Usage(1, 0.5, 2.0, 1.5) if is_known else Usage(1, 0.25, 1.0, 0.75)
    assert (await world.job(job.id)).usage == expected


async def test_a_job_with_whole_nodes_has_them_also_where_they_are_the_smaller_ones(world: World) -> None:
    job = (await world.message({"spec": job_json()})).job
    times = {"started": world.now, "ended": world.now + timedelta(hours=1)}
    allotted = Allotted(4, 0.5)
    world.engine.set_state(job.fixed_target.name, JobState.SUCCEEDED, **times, allotted=allotted)
    await world.make_pass(3600)

    assert (await world.job(job.id)).usage == Usage(1, 1.0, 4.0, 3.0)


@pytest.mark.parametrize("accepted", [None, 1.0])
async def test_a_job_that_shares_is_corrected_by_each_attempt(world: World, accepted: float | None) -> None:
    world.engine.own_facts = ClusterFacts(allotted=Allotted(1, accepted))
    job = (await world.message({"spec": job_json()})).job
    assert (job.rate, job.gpus, job.part) == (Rate(per_hour=3.0, currency="USD"), 1, 1.0)

    counted = []
    for part, how in (
        (1.0, {"state": JobState.FAILED, "reason": Reason.PREEMPTED}),
        (0.25, {"state": JobState.SUCCEEDED}),
    ):
        target = (await world.job(job.id)).fixed_target
        world.engine.set_state(target.name, JobState.RUNNING, started=world.now, allotted=Allotted(1, part))
        await world.make_pass()
        now = await world.job(job.id)
        counted.append((now.part, now.rate and now.rate.per_hour))
        world.engine.set_state(target.name, ended=world.now, allotted=Allotted(1, part), **how)
        await world.make_pass()
        await world.make_pass(1800)

    assert counted == [(1.0, 3.0), (0.25, 0.75)]


async def test_all_attempts_are_counted(world: World) -> None:
    await share(world, gpuHours=100)
    job = await ask(world, 1, longest=HOUR)

    await run_for(world, job, 900, state=JobState.FAILED, reason=Reason.PREEMPTED)
    await world.make_pass(1800)
    await run_for(world, job, 900)

    assert (await world.ports.teams.use("vision")).months == {JANUARY: Usage(1, 0.5, 2.0, 1.5)}


async def test_a_run_that_its_cluster_gave_up_is_counted(world: World) -> None:
    job = await ask(world, 1)
    name = (await world.job(job.id)).fixed_target.name
    world.engine.set_state(name, JobState.RUNNING, started=world.now)
    await world.make_pass(3600)
    world.engine.set_state(name, JobState.QUEUED, started=None)
    await world.make_pass(0)

    await run_for(world, job, 3600)

    assert (await world.job(job.id)).usage.node_hours == 2.0


@pytest.mark.parametrize("quota", [{"gpuHours": 8}, {"budget": 6}])
async def test_what_a_month_may_use_holds_with_the_jobs_at_work(world: World, quota: dict[str, Any]) -> None:
    await share(world, **quota)
    jobs = [await ask(world, number, longest=HOUR) for number in range(4)]
    assert await states(world, *jobs) == [JobState.QUEUED] * 2 + [JobState.ACCEPTED] * 2

    await run_for(world, jobs[0], 1800)
    assert await states(world, *jobs[2:]) == [JobState.ACCEPTED] * 2
    await run_for(world, jobs[1], 1800)
    assert await states(world, *jobs[2:]) == [JobState.QUEUED, JobState.ACCEPTED]

    await run_for(world, jobs[2], 3600)
    await world.make_pass()
    assert await states(world, jobs[3]) == [JobState.ACCEPTED]
    await world.make_pass(31 * 24 * 3600)
    await world.make_pass()
    assert await states(world, jobs[3]) == [JobState.QUEUED]


@pytest.mark.parametrize(
    ("quota", "text"),
    [
        ({"gpuHours": 3}, "it may need 4 GPU-hours, and the quota of a month is 3"),
        ({"budget": 2.5}, "it may cost 3, and the budget of a month is 2.5"),
        ({"jobCost": 2.5}, "it may cost 3 if it runs as long as it may, and 2.5 are allowed"),
    ],
)
async def test_a_job_that_may_use_too_much_is_rejected(
    world: World, quota: dict[str, Any], text: str
) -> None:
    await share(world, **quota)

    job = await ask(world, 1, longest=HOUR)

    (problem,) = [one for one in job.problems if one["severity"] == "error"]
    assert problem["code"] == "SW119"
    assert text in problem["message"]


@pytest.mark.parametrize(
    "nodes", [10**400, 10**308, 10**19, -(10**400), -1, "1e400", None, [2], True], ids=_short
)
async def test_a_number_of_nodes_that_is_out_of_all_bounds_is_named_beside_a_quota(
    world: World, nodes: Any
) -> None:
    await share(world, gpuHours=3, budget=3)

    job = await ask(world, 1, nodes=nodes, longest=HOUR)

    problems = [one for one in job.problems if one["severity"] == "error"]
    assert {one["pointer"] for one in problems} == {"/spec/properties/nodeCount"}
    assert "SW111" not in {one["code"] for one in problems}


@pytest.mark.parametrize("constraints", [None, "PT1H", {"maxWallClockTime": ["PT1H"]}], ids=str)
@pytest.mark.parametrize("nodes", [10**400, 10**308, math.inf, math.nan, "many", None], ids=_short)
def test_a_document_of_which_no_demand_follows_exceeds_no_quota(
    world: World, nodes: Any, constraints: Any
) -> None:
    properties = {"nodeCount": nodes, "constraints": constraints}
    request = read_request(b'{"spec": {}}', world.ports.policy.limits)
    request = replace(
        request, share=Share("vision", quota=Quota.model_validate({"gpuHours": 3, "budget": 3}))
    )

    cluster = replace(CLUSTER, facts=ClusterFacts(gpus=4))

    assert over_quota(world.ports.policy, request, {"properties": properties}, cluster) == ()


async def test_a_budget_needs_prices(world: World) -> None:
    world.policy(prices=())
    await share(world, budget=100)

    job = await ask(world, 1, longest=HOUR)

    (problem,) = [one for one in job.problems if one["severity"] == "error"]
    assert problem["message"].endswith("the price of the job's cluster is not known")
    assert problem["remedy"] == "ask the operator to add it to SLIPWAY_PRICES, or use another cluster"


async def test_the_log_warns_once_of_a_budget_that_runs_out(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await share(world, budget=10)
    for number in range(3):
        with caplog.at_level(logging.WARNING):
            await run_for(world, await ask(world, number, longest=HOUR), 3600)

    texts = [record.getMessage() for record in caplog.records if "budget" in record.getMessage()]
    assert texts == ["the team vision has used 80 % of its budget of 2026-01"]


async def test_a_crash_after_the_write_costs_no_line_about_the_budget(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await share(world, budget=3)
    job = await ask(world, 1, longest=HOUR)
    whole = world.ports.teams

    class Broken:
        get, put, use, put_uses = whole.get, whole.put, whole.use, whole.put_uses

        async def put_use(self, use: TeamUse) -> TeamUse | None:
            await whole.put_use(use)
            raise Unavailable("the answer was lost")

    world.use(teams=Broken())
    await run_for(world, job, 3600)
    assert (await whole.use("vision")).spent(JANUARY) == 3.0
    world.use(teams=whole)
    await world.make_pass()

    texts = [text for text in caplog.messages if "of its budget" in text]
    assert texts == [f"the team vision has used {part} % of its budget of 2026-01" for part in (80, 100)]


async def test_an_end_that_a_recall_counts_is_warned_of_as_well(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    quotas = {"vision": {"jobs": 1, "borrows": True, "budget": 3.5}, "speech": {"jobs": 1, "lends": True}}
    document = {"teams": {name: {"quota": quota} for name, quota in quotas.items()}}
    assert await world.ports.teams.put(Teams.model_validate(document), "") is not None
    times = ("PT6M", HOUR)
    _, borrowed = [await ask(world, n, longest=one, team="vision") for n, one in enumerate(times)]
    await world.make_pass()
    teams = world.ports.teams
    assert (await teams.use("speech")).lent.keys() == {borrowed.id}
    world.use(teams=Unwritable(teams))
    await run_for(world, borrowed, 3600)
    world.use(teams=teams, memo=Memo())  # another process, which has said nothing yet
    caplog.clear()
    lenders = await ask(world, 3, longest=HOUR, team="speech")
    assert lenders.claim is not None

    await recalled(world.ports, await teams.use("speech"), [(lenders.id, lenders.claim)])

    assert (await teams.use("vision")).spent(JANUARY) == 3.0
    assert [text for text in caplog.messages if "80 % of its budget of 2026-01" in text] != []


async def test_an_end_of_the_last_month_that_is_counted_in_this_one_is_warned_of(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await share(world, budget=3)
    world.now = datetime(2026, 1, 31, 22, 59, 30, tzinfo=UTC)
    job = await ask(world, 1, longest=HOUR)
    target = (await world.job(job.id)).fixed_target
    world.engine.set_state(target.name, JobState.RUNNING, started=world.now)
    await world.make_pass(3600 - 1)
    world.engine.set_state(target.name, JobState.SUCCEEDED, ended=world.now)
    await world.make_pass(60)

    assert (await world.ports.teams.use("vision")).months.keys() == {JANUARY}
    assert [text for text in caplog.messages if "100 % of its budget" in text] == []
    assert [text for text in caplog.messages if "80 % of its budget of 2026-01" in text] != []


async def test_a_waiting_job_knows_its_place(world: World) -> None:
    await share(world, jobs=1)
    first, second, third = [await ask(world, number) for number in range(3)]
    await world.make_pass()

    texts = [
        (await as_it_stands(world.ports, await world.job(one.id))).waiting for one in (first, second, third)
    ]

    assert texts[0] is None
    assert [str(one and one.text).rpartition("; ")[2] for one in texts[1:]] == [
        "it is number 1 in its team's line",
        "it is number 2 in its team's line",
    ]
    assert [one and one.position for one in texts] == [None, 1, 2]
    shown = summary(await as_it_stands(world.ports, await world.job(third.id)))["waiting"]
    assert shown["position"] == 2
    assert "position" not in summary(await world.job(third.id))["waiting"]  # no record holds it
    await end(world, first)
    await world.make_pass()
    last = (await as_it_stands(world.ports, await world.job(third.id))).waiting
    assert last is not None
    assert last.text.endswith("number 1 in its team's line")


async def test_callers_see_the_use_of_their_own_teams(world: World) -> None:
    await share(world, jobs=3)
    await ask(world, 1)
    member = Caller("ann", frozenset({SUBMIT}), teams={"vision": False})

    (own,) = await usage(world.ports, member)

    assert own.use is not None
    assert (own.team, own.use.total(JANUARY).jobs) == ("vision", 1)
    assert await usage(world.ports, Caller("eve", frozenset({SUBMIT}))) == []
    readers = [KEY_HOLDER, Caller("bob", frozenset({READ_ALL}))]
    assert [len(await usage(world.ports, one)) for one in readers] == [1, 1]
