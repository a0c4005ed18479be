"""What people ask of jobs."""

from __future__ import annotations

import pytest

from shared.core.caller import KEY_HOLDER
from shared.core.errors import Misuse, Unavailable
from shared.core.job import JobState, Stored
from shared.intake.rerun import rerun
from shared.lifecycle import lookup
from shared.operate import listing, read
from shared.operate.ends.cancel import cancel
from tests.doubles.memory import MemoryLedger
from tests.unit.world import World, job_json


async def _jobs(world: World, count: int) -> list[str]:
    """Ids, newest first."""
    ids: list[str] = []
    for n in range(count):
        world.pass_time(1)
        ids.insert(0, (await world.message(job_json(), f"m{n}")).job.id)
    return ids


async def test_active_jobs_are_listed_newest_first_in_pages(world: World) -> None:
    ids = await _jobs(world, 5)
    world.engine.set_state(world.engine.started[1], JobState.SUCCEEDED)
    await world.make_pass()
    active = [job for n, job in enumerate(ids) if n != 3]

    first = await listing.jobs(world.ports, {"state": "active", "limit": "3"})
    second = await listing.jobs(world.ports, {"state": "active", "limit": "3", "after": first.next or ""})

    assert [job.id for job in (*first.jobs, *second.jobs)] == active
    assert second.next is None


async def test_a_list_shows_how_many_nodes_a_job_asks_for_and_with_which_priority(world: World) -> None:
    await world.message(job_json(nodeCount=3, schedulingPriority="high"))
    await world.message(job_json(), "m2")

    page = await listing.jobs(world.ports, {})

    assert sorted((job.nodes, job.priority) for job in page.jobs) == [(1, ""), (3, "high")]


async def test_a_row_that_cannot_be_read_hides_no_other_job(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    ids = await _jobs(world, 3)
    for name in world.engine.started:
        world.engine.set_state(name, JobState.SUCCEEDED)
    await world.make_pass()
    rows = [result.row for (_, key), result in world.ledger.held.items() if key.startswith("l|")]
    (row,) = [row for row in rows if row["RowKey"].endswith(ids[1])]
    row["Shown0"] = row["Shown0"].replace('"state":"succeeded"', '"state":"succeeded","exit_code":"boom"')

    page = await listing.jobs(world.ports, {"limit": "3"})

    assert [job.id for job in page.jobs] == ids  # as its record has it
    assert ids[1] in caplog.text

    (record,) = [result.row for (_, key), result in world.ledger.held.items() if key == f"j|{ids[1]}"]
    record["Record0"] = "{"
    page = await listing.jobs(world.ports, {"limit": "3"})
    assert [job.id for job in page.jobs] == [ids[0], ids[2]]


@pytest.mark.parametrize(
    "job", ["j_unknown", "j_" + "a" * 24, "a?b", "a\\b", "a#b", "a/b", "j_" + "a" * 5000]
)
async def test_an_unknown_job_is_a_404(world: World, job: str) -> None:
    class Table(MemoryLedger):
        async def get(self, job_id: str) -> Stored | None:
            if set(job_id) & set("/\\#?") or len(job_id) > 500:  # as the service says 400 to such a key
                raise Unavailable("storage answered 400")
            return await super().get(job_id)

    world.use(ledger=Table(world.clock))
    request = (
        lookup.job(world.ports, job),
        cancel(world.ports, job),
        rerun(world.ports, job, {}, who=KEY_HOLDER, key="k"),
    )
    for each in request:
        with pytest.raises(Misuse) as caught:
            await each
        assert caught.value.status == 404


async def test_a_cluster_shows_what_its_engine_can_do_there(world: World) -> None:
    (cluster,) = await read.clusters(world.ports)
    assert cluster.view is not None
    assert cluster.view.capabilities == world.engine.abilities


async def test_a_cluster_that_does_not_answer_says_since_when(world: World) -> None:
    await world.message(job_json(), "1")
    world.engine.down = True
    (never_asked,) = await read.clusters(world.ports)
    world.pass_time(11)
    began = world.now
    await world.make_pass()
    world.pass_time(11)
    (silent,) = await read.clusters(world.ports)
    await world.make_pass()
    world.pass_time(11)
    (still_silent,) = await read.clusters(world.ports)

    assert (never_asked.view, never_asked.since) == (None, None)
    assert silent.since is not None
    assert began <= silent.since < world.now
    assert still_silent.since == silent.since
