"""What the meter gets of teams: use, limits, waiting, loans, and what was taken back."""

from __future__ import annotations

import pytest

from shared.core.errors import Unavailable
from shared.core.teams.use import TeamUse
from tests.unit.lifecycle.idle.idle_world import IdleWorld
from tests.unit.lifecycle.teams.test_claims import end
from tests.unit.lifecycle.teams.test_lending import BORROWER, LENDER, ask, borrow
from tests.unit.lifecycle.test_meter import Counting
from tests.unit.world import World


async def test_loans_are_seen_while_they_last_and_counted_when_they_are_taken_back(world: World) -> None:
    world.use(meter=(meter := Counting()))
    await borrow(world)
    await world.make_pass()  # publishes what the last one lent

    values = meter.values
    assert values["slipway.team.borrowed", BORROWER] == 1
    assert (values["slipway.team.jobs", BORROWER], values["slipway.team.quota", BORROWER, "jobs"]) == (1, 1)
    assert ("slipway.loans.recalled", BORROWER) not in meter.counts

    await ask(world, LENDER, 3)
    await world.make_pass(600)
    for _ in range(3):
        await world.make_pass()

    assert meter.counts["slipway.loans.recalled", BORROWER] == 1
    assert (values["slipway.team.borrowed", BORROWER], values["slipway.team.waiting", BORROWER]) == (0, 1)
    assert (values["slipway.team.jobs", LENDER], values["slipway.team.waiting", LENDER]) == (1, 0)


async def test_a_lender_without_a_job_is_seen_in_every_pass_while_it_lends_and_when_it_has_all_back(
    world: World,
) -> None:
    world.use(meter=(meter := Counting()))
    _, second = await borrow(world)
    for _ in range(2):
        meter.values.clear()  # as a listener has it that shows what the last minute brought
        await world.make_pass()

        assert meter.values["slipway.team.jobs", LENDER] == 1
        assert meter.values["slipway.team.quota", LENDER, "jobs"] == 1

    await end(world, second)

    assert meter.values["slipway.team.jobs", LENDER] == 0


async def test_a_lender_that_does_not_answer_costs_the_meter_a_value_and_no_job_its_pass(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.use(meter=(meter := Counting()))
    await borrow(world)
    meter.values.clear()
    whole = world.ports.teams

    class Broken:
        get, put, put_use, put_uses = whole.get, whole.put, whole.put_use, whole.put_uses

        async def use(self, team: str) -> TeamUse:
            if team == LENDER:
                raise Unavailable("no answer")
            return await whole.use(team)

    world.use(teams=Broken())
    await world.make_pass()

    assert meter.values["slipway.team.jobs", BORROWER] == 1
    assert ("slipway.team.jobs", LENDER) not in meter.values
    assert "the meter lacks what some lenders have: no answer" in caplog.messages


async def test_a_warning_and_an_idle_end_are_counted_once_each() -> None:
    world = IdleWorld()
    world.use(meter=(meter := Counting()))
    await world.running()

    await world.later(62)
    assert meter.counts["slipway.jobs.warned", "gpus"] == 1
    await world.later(33)

    assert meter.counts["slipway.jobs.warned", "gpus"] == 1
    assert meter.counts["slipway.jobs.ended", "cancelled", "idle"] == 1
