"""A pool that is gone, or that cannot be looked at for a moment: what its jobs wait for."""

from __future__ import annotations

import pytest

from shared.core.engine import Why
from tests.unit.engines.batch.account import error
from tests.unit.engines.batch.service import Service, engine, order
from tests.unit.engines.batch.test_node_faults import NOON, wait_of


async def test_jobs_of_a_pool_that_someone_deleted_say_so_and_what_to_do() -> None:
    text = await wait_of(Service(fail={"GET /pools/t4": (404, error("PoolNotFound", "There is no pool."))}))

    assert text.startswith("PoolUnusable: its pool cannot be used: ")
    assert "make the pool again (`slipway setup`), or correct `pool` of the cluster" in text


async def test_a_pool_that_is_being_deleted_is_not_being_prepared() -> None:
    service = Service(counts={"dedicated": {"leavingPool": 1}})
    service.pool |= {"state": "deleting", "allocationState": "resizing"}

    assert (await wait_of(service)).startswith("PoolUnusable: its pool is being deleted")


@pytest.mark.parametrize("refusal", [(500, error("InternalError")), (418, "tea"), None])
async def test_one_look_that_fails_takes_no_reason_from_the_jobs(refusal: tuple[int, object] | None) -> None:
    service, now = Service(counts={"dedicated": {"running": 4}}), [NOON.timestamp()]
    service.pool |= {"resizeErrors": [{"code": "AllocationTimedout", "message": "none there"}]}
    reasons: list[Why | None] = []
    async with engine(service, now) as batch:
        await batch.submit(order())
        for answers in ({}, {"GET /nodecounts": refusal}, {"GET /nodecounts": refusal}, {}):
            service.fail = answers
            reasons.append((await batch.status("gpu", [order().target]))[order().target.name].why)
            now[0] += 60.0

    assert {reason and reason.word for reason in reasons} == {"NoCapacity"}
    assert len({reason and reason.text for reason in reasons}) == 1


async def test_a_pool_without_machines_says_so_also_while_it_is_resized_again() -> None:
    """The service shows the errors of a resize only between two of them."""
    service, now = Service(counts={"dedicated": {"running": 1}}), [NOON.timestamp()]
    short = [{"code": "AllocationTimedout", "message": "none there"}]
    words: list[str] = []
    async with engine(service, now) as batch:
        await batch.submit(order())
        for state, errors, nodes in (
            ("steady", short, 1),
            ("resizing", [], 1),
            ("resizing", [], 1),
            ("steady", short, 1),
            ("resizing", [], 2),
            ("steady", [], 2),
            ("resizing", [], 2),
        ):
            service.pool |= {"allocationState": state, "resizeErrors": errors, "currentDedicatedNodes": nodes}
            now[0] += 60.0
            why = (await batch.status("gpu", [order().target]))[order().target.name].why
            words.append(why.word if why else "")

    assert words == [*["NoCapacity"] * 4, "Resizing", "NodesBusy", "Resizing"]
