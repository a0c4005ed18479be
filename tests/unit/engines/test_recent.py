"""What clusters said lately: how often they are asked, and what stands while they do not answer."""

from __future__ import annotations

import asyncio

from shared.core.engine import ClusterView
from shared.core.errors import EngineError, Misconfigured, Transient
from shared.engines.recent import Lately


class Cluster:
    """A cluster that answers with a view, or fails; and a clock."""

    def __init__(self) -> None:
        self.time, self.looks = 100.0, 0
        self.says: ClusterView | EngineError = ClusterView("a", "x", "steady", 1, {}, 0, 1, "")
        self.lately = Lately(self.view, 300.0, lambda: self.time)

    async def view(self, name: str) -> ClusterView:
        self.looks += 1
        await asyncio.sleep(0)
        if isinstance(self.says, EngineError):
            raise self.says
        return self.says


async def test_many_who_ask_at_once_share_one_look() -> None:
    cluster = Cluster()
    result = await asyncio.gather(*(cluster.lately.view("a") for _ in range(50)))
    assert result == [cluster.says] * 50
    assert cluster.looks == 1


async def test_a_look_is_good_for_some_time_and_a_clock_that_went_back_ends_it() -> None:
    cluster = Cluster()
    for moment, looks in ((100.0, 1), (399.0, 1), (401.0, 2), (50.0, 3)):
        cluster.time = moment
        await cluster.lately.view("a")
        assert cluster.looks == looks


async def test_what_was_said_stands_while_the_cluster_is_silent_and_it_is_asked_again_soon() -> None:
    cluster = Cluster()
    assert cluster.lately.last_view("a") is None
    output = await cluster.lately.view("a")
    cluster.says, cluster.time = Transient("no answer"), 500.0
    assert await cluster.lately.view("a") == output
    cluster.time = 514.0
    assert (await cluster.lately.view("a"), cluster.looks) == (output, 2)
    cluster.time = 516.0
    assert (await cluster.lately.view("a"), cluster.looks) == (output, 3)
    assert cluster.lately.last_view("a") == output


async def test_who_needs_a_younger_view_has_another_look_and_none_of_a_silent_cluster() -> None:
    cluster = Cluster()
    output = await cluster.lately.now("a", 15.0)
    cluster.time += 10.0
    assert (await cluster.lately.now("a", 15.0), cluster.looks) == (output, 1)
    assert (await cluster.lately.now("a", 5.0), cluster.looks) == (output, 2)
    cluster.time += 301.0
    cluster.says = Transient("no answer")
    assert (await cluster.lately.now("a", 999.0), cluster.looks) == (None, 3)
    assert (await cluster.lately.now("a", 0.0), cluster.looks) == (None, 3)
    assert await cluster.lately.view("a") == output


async def test_one_look_that_fails_takes_no_reason_away_and_a_refusal_is_one() -> None:
    cluster = Cluster()
    output = await cluster.lately.now("a", 15.0)
    cluster.says = Transient("no answer")
    for seconds, expected in ((60.0, output), (239.0, output), (2.0, None)):
        cluster.time += seconds
        assert await cluster.lately.now("a", 15.0) == expected
        assert cluster.lately.refusal("a") is None

    cluster.says = refused = Misconfigured("there is no such pool")
    cluster.time += 60.0
    assert await cluster.lately.now("a", 15.0) is None
    assert cluster.lately.refusal("a") is refused
    cluster.says = output or cluster.says
    cluster.time += 60.0
    assert await cluster.lately.now("a", 15.0) == output
    assert cluster.lately.refusal("a") is None
