"""The nodes of clusters over time: how often they are noted, how many points there are, what silence is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.adapters.storage.node_history import TableNodeHistories
from shared.adapters.storage.table import Operation
from shared.core.engine import ClusterView
from shared.core.errors import Unavailable
from shared.core.ledger.node_history import MOST_POINTS, NodeHistory, Point
from shared.lifecycle.clusters.count_nodes import count_nodes
from shared.operate.read import node_histories
from tests.unit.world import World


def set_nodes(world: World, **counts: int) -> None:
    world.engine.view = ClusterView("dev", "memory", "steady", sum(counts.values()), counts, 0, 9, "none")


async def points(world: World) -> list[tuple[int, ...] | None]:
    """The nodes of each point, in the order of NODE_STATES, as another process reads them."""
    stored = await TableNodeHistories(world.ledger.store).all()
    return [point.nodes for point in stored["dev"].points] if "dev" in stored else []


async def test_a_change_is_noted_and_a_minute_has_one_point(world: World) -> None:
    for count in range(3):
        set_nodes(world, running=count)
        assert await count_nodes(world.ports) == int(count == 0)
        world.pass_time(10)
    world.pass_time(60)
    assert await count_nodes(world.ports) == 1

    assert await points(world) == [(0, 0, 0, 0, 0), (0, 2, 0, 0, 0)]


async def test_while_nothing_changes_a_row_is_written_every_ten_minutes_and_read_once(world: World) -> None:
    set_nodes(world, idle=2)
    written = []
    for _ in range(60):
        written.append(await count_nodes(world.ports))
        world.pass_time(60)

    assert sum(written) == 6
    assert world.engine.calls == 60


@pytest.mark.long
async def test_the_ring_is_bounded_and_its_row_fits_the_table(world: World) -> None:
    for minute in range(MOST_POINTS + 20):
        set_nodes(world, idle=1000 + minute, running=100_000, preparing=10_000, leaving=10_000)
        await count_nodes(world.ports)
        world.pass_time(60)

    stored = await points(world)
    assert len(stored) == MOST_POINTS
    assert stored[0] == (1020, 100_000, 10_000, 10_000, 0)


async def test_a_cluster_that_does_not_answer_has_a_point_without_nodes(world: World) -> None:
    set_nodes(world, idle=1)
    await count_nodes(world.ports)
    world.engine.down = True
    for _ in range(3):
        world.pass_time(60)
        await count_nodes(world.ports)

    assert await points(world) == [(1, 0, 0, 0, 0), None]
    assert world.ports.breaker.wait("memory/dev", world.now) == 0


async def test_a_cluster_that_is_left_alone_is_not_asked_and_has_a_point_without_nodes(world: World) -> None:
    for _ in range(10):
        world.ports.breaker.failed("memory/dev", world.now)

    assert await count_nodes(world.ports) == 1

    assert world.engine.calls == 0
    assert await points(world) == [None]


async def test_of_two_processes_one_notes_a_minute(world: World) -> None:
    set_nodes(world, idle=1)
    other = replace(world.ports, node_histories=TableNodeHistories(world.ledger.store))
    await count_nodes(other)  # has read the row
    world.pass_time(60)
    set_nodes(world, idle=2)

    assert [await count_nodes(world.ports), await count_nodes(other)] == [1, 0]
    assert await points(world) == [(1, 0, 0, 0, 0), (2, 0, 0, 0, 0)]
    world.pass_time(60)
    set_nodes(world, idle=3)
    assert await count_nodes(other) == 1
    assert len(await points(world)) == 3


async def test_storage_that_does_not_answer_stops_nothing(world: World) -> None:
    class SilentStorage(TableNodeHistories):
        async def get(self, cluster: str) -> NodeHistory:
            raise Unavailable("no answer")

    assert await count_nodes(replace(world.ports, node_histories=SilentStorage(world.ledger.store))) == 0


async def test_what_is_read_begins_with_the_point_that_held_then(world: World) -> None:
    start = world.now
    for count in range(4):
        set_nodes(world, idle=count)
        await count_nodes(world.ports)
        world.pass_time(600)

    history = (await node_histories(world.ports, start + timedelta(minutes=15)))["dev"]

    assert [point.nodes and point.nodes[0] for point in history.points] == [1, 2, 3]


async def test_a_deployment_that_never_counted_has_an_empty_history(world: World) -> None:
    assert (await node_histories(world.ports, world.now))["dev"].points == ()


async def test_a_row_that_cannot_be_read_is_written_anew(world: World) -> None:
    set_nodes(world, idle=1)
    await count_nodes(world.ports)
    (row,) = [result.row for (partition, _), result in world.ledger.held.items() if partition == "nodes"]
    await world.ledger.store.write_other(Operation("upsert", {**row, "Points0": "{"}))
    world.pass_time(60)

    fresh = replace(world.ports, node_histories=TableNodeHistories(world.ledger.store))
    assert await count_nodes(fresh) == 1

    assert await points(world) == [(1, 0, 0, 0, 0)]


def test_a_clock_that_went_back_stops_nothing(world: World) -> None:
    history = NodeHistory("dev", (Point(world.now, (1, 0, 0, 0, 0)),))
    earlier = Point(world.now - timedelta(hours=1), (1, 0, 0, 0, 0))

    assert not history.rests(earlier.at)
    assert len(history.extended(earlier).points) == 2


def test_the_most_nodes_are_those_of_the_last_answer(world: World) -> None:
    count = Point(world.now, (1, 0, 0, 0, 0))
    history = NodeHistory("dev").extended(count, 6)

    assert history.maximum == 6
    assert history.extended(count, 6) is history
    assert history.extended(count, 8).maximum == 8
    assert history.extended(Point(world.now, None)).maximum == 6
