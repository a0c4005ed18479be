"""Health while storage answers reads and takes no writes: a role that only reads, a lock, a full account."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import get_args

import pytest

from shared.core.errors import (
    Busy,
    Conflict,
    LeftAlone,
    Misconfigured,
    NotAFile,
    NotFound,
    Rejected,
    Saturated,
    Transient,
)
from shared.core.facts import ClusterFacts
from shared.core.ledger.entries import Reported, Standing
from shared.core.pacing.breaker import Breaker
from shared.core.trouble import Kind, Troubles
from shared.lifecycle.clusters.calling import calling, left_alone
from shared.lifecycle.sweeper import make_pass
from shared.operate.read import clusters
from shared.operate.ready import ready
from shared.setting_table.functions_off import functions_off
from tests.doubles.memory import MemoryLedger, MemoryTable
from tests.unit.lifecycle.teams.test_changed_teams import teams
from tests.unit.world import CLUSTER, Engines, World

REFUSED = "storage answered 403 AuthorizationPermissionMismatch"


def _table(world: World) -> MemoryTable:
    assert isinstance(world.ledger.table, MemoryTable)
    return world.ledger.table


#: What takes no writes → how the world refuses them, and lets them pass with "".
REFUSING: dict[str, Callable[[World, str], None]] = {
    "the table of records": lambda world, why: setattr(_table(world), "refusal", why),
    "the container of receipts": lambda world, why: setattr(world.drops, "refusal", why),
    "the queue of jobs": lambda world, why: setattr(world.queues, "refusal", why),
    "the container of the archive": lambda world, why: setattr(world.archive, "refusal", why),
}


@pytest.mark.parametrize("place", REFUSING)
async def test_a_place_that_takes_no_writes_is_named_and_the_log_has_the_reason(
    world: World, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await ready(world.ports)).ready
    REFUSING[place](world, REFUSED)
    world.pass_time(61)

    with caplog.at_level(logging.WARNING):
        readiness = await ready(world.ports)

    assert (readiness.storage, readiness.ready, readiness.unwritable) == (True, False, (place,))
    assert f"{place}: {REFUSED}" in caplog.text

    REFUSING[place](world, "")
    world.pass_time(6)
    assert (await ready(world.ports)).ready, "what was refused is tried again soon"


async def test_a_try_of_every_write_leaves_nothing(world: World) -> None:
    await world.ledger.store.open()
    before = {key: row.row for key, row in world.ledger.held.items()}

    await ready(world.ports)

    assert {key: row.row for key, row in world.ledger.held.items()} == before
    assert (world.queues.messages, world.drops.receipt_files, world.archive.blobs) == ([], {}, {})


async def test_writes_are_tried_once_a_minute_however_often_health_is_asked_for(world: World) -> None:
    for _ in range(9):
        await asyncio.gather(*(ready(world.ports) for _ in range(3)))
        world.pass_time(6)
    assert world.drops.tries == 1

    world.pass_time(7)
    await ready(world.ports)
    assert world.drops.tries == 2


async def test_a_storage_that_answers_nothing_is_not_said_to_refuse_writes(world: World) -> None:
    class Silent(MemoryTable):
        async def rows(self, key_range: object) -> list[dict[str, object]]:
            raise TimeoutError

    world.use(ledger=MemoryLedger(world.clock, table=Silent(world.clock)))

    readiness = await ready(world.ports)

    assert (readiness.storage, readiness.unwritable) == (False, ())


ERRORS = (Busy, Transient, LeftAlone, Saturated, Rejected, Misconfigured, NotFound, Conflict)


@pytest.mark.parametrize("error", [*ERRORS, NotAFile, TimeoutError, OSError])
async def test_a_cluster_does_not_answer_where_its_breaker_counts_a_failure(
    world: World, error: type[Exception]
) -> None:
    world.use(breaker=Breaker(failures=1))
    world.engine.refuses["nodes"] = error("it says so")
    with pytest.raises(error):
        async with calling(world.ports, CLUSTER.engine, CLUSTER.name, None) as engine:
            await engine.nodes(CLUSTER.name)
    silent = left_alone(world.ports, CLUSTER.engine, CLUSTER.name)

    (word,) = (await ready(world.ports)).clusters

    assert (word == "does not answer") is silent
    assert (word == "misconfigured") is (error in (Misconfigured, NotFound, NotAFile))


async def test_a_layout_that_vanished_is_reported(world: World) -> None:
    """The app works on, and would not start again."""
    await ready(world.ports)
    del world.ledger.held["meta", "layout"]
    world.pass_time(61)

    assert (await ready(world.ports)).unwritable == ("the table of records",)


#: What the passes of an earlier process may have found, and what of it its settings alone may have caused.
OF_SETTINGS: dict[Kind, bool] = {
    "row": False,
    "job": False,
    "settings": True,
    "sweeper": True,
    "cluster": True,
}


def test_all_that_passes_find_is_looked_at() -> None:
    assert OF_SETTINGS.keys() == {*get_args(Kind)}


@pytest.mark.parametrize("kind", OF_SETTINGS)
async def test_the_first_pass_of_a_process_takes_back_what_the_settings_of_an_earlier_one_caused(
    world: World, kind: Kind
) -> None:
    earlier = replace(world.ports, troubles=Troubles(world.clock))
    earlier.troubles.report(kind, "memory/dev", "it is wrong")
    await make_pass(earlier)
    if kind == "sweeper":  # it fails once more, and the process ends
        await world.ledger.report(Reported(world.now, {kind: 1}))
    world.pass_time(61)

    await make_pass(replace(world.ports, troubles=Troubles(world.clock)))

    reported = (await world.ledger.standing()).reported
    assert reported is not None
    assert (reported.counts, reported.silent) == ({} if OF_SETTINGS[kind] else {kind: 1}, {})
    if not OF_SETTINGS[kind]:
        assert world.now - reported.at == timedelta(seconds=61), "so long ago it was found"


async def test_a_setting_that_was_corrected_is_not_wrong_after_the_next_sweep(world: World) -> None:
    off = functions_off({"AzureWebJobs.deliver.Disabled": "true"})
    earlier = replace(world.ports, functions_off=off, troubles=Troubles(world.clock))
    assert (await ready(earlier)).settings_wrong
    await make_pass(earlier)
    world.pass_time(61)
    corrected = replace(world.ports, troubles=Troubles(world.clock))
    assert (await ready(corrected)).settings_wrong, "another process, which still runs, may be wrong"
    await make_pass(corrected)
    world.pass_time(6)

    assert not (await ready(corrected)).settings_wrong


async def test_a_pass_after_the_first_asks_no_more_for_what_others_found(world: World) -> None:
    requests = list[str]()

    class CountingLedger(MemoryLedger):
        async def standing(self) -> Standing:
            requests.append("standing")
            return await super().standing()

    world.use(ledger=CountingLedger(world.clock, table=world.ledger.table))
    for _ in range(3):
        await make_pass(world.ports)

    assert requests == ["standing"]


@pytest.mark.parametrize(
    ("facts", "reported", "is_reached"),
    [
        (ClusterFacts(directories=frozenset({"acct/scripts"})), False, True),
        (ClusterFacts(mounts=frozenset({"logs", "scripts"})), False, True),
        (ClusterFacts(mounts=frozenset({"nfs/scripts"})), True, True),
        (ClusterFacts(directories=frozenset({"acct/datalake"}), mounts=frozenset({"logs"})), False, False),
        (ClusterFacts(mounts=frozenset({"logs"})), True, False),
    ],
)
async def test_nodes_with_the_container_of_drops_keep_no_teams_apart(
    world: World, caplog: pytest.LogCaptureFixture, facts: ClusterFacts, *, reported: bool, is_reached: bool
) -> None:
    cluster = CLUSTER if reported else replace(CLUSTER, facts=facts)
    world.engine.own_facts = facts if reported else world.engine.own_facts
    world.use(engines=Engines(world.engine, {"dev": cluster}))

    assert not (await ready(world.ports)).settings_wrong, "without teams, a document may mount it"
    await teams(world, a={}, b={})
    world.pass_time(6)
    readiness = await ready(world.ports)
    (shown,) = await clusters(world.ports)

    assert readiness.ready
    assert readiness.settings_wrong is is_reached
    assert ("drop as any of them" in caplog.text) is is_reached
    assert shown.view is not None
    assert any("scripts" in one for one in shown.view.errors) is is_reached

    await teams(world)
    world.pass_time(6)
    assert not (await ready(world.ports)).settings_wrong
