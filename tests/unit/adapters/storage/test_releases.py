"""A store that an earlier release has written is read by this one, and its jobs go on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from shared import __version__
from shared.adapters.storage import layout
from shared.adapters.storage.checks.readers import READERS
from shared.adapters.storage.rows import is_stub, record_of
from shared.core.job import JobState
from shared.core.ledger.kinds import KINDS, kind_of
from shared.lifecycle.archive import archive
from shared.operate.audit import audit
from tests.unit.adapters.storage.releases import RELEASES, put, read
from tests.unit.functions.calls import call, use
from tests.unit.world import World

#: Kinds that not every store has: the app's name is there only where a deployment gives one.
_RARE = {("meta", "owner")}


def unknown_members(value: Any, place: str = "") -> Iterator[str]:
    """The members that a record has kept without knowing them."""
    if isinstance(value, BaseModel):
        yield from (f"{place}.{name}" for name in value.model_extra or ())
        for name in type(value).model_fields:
            yield from unknown_members(getattr(value, name), f"{place}.{name}")
    elif isinstance(value, tuple | list):
        for one in value:
            yield from unknown_members(one, f"{place}[]")


def test_the_rows_of_this_version_are_kept() -> None:
    assert __version__ in RELEASES, "run: python -m tests.unit.adapters.storage.releases"


@pytest.mark.parametrize("release", RELEASES)
def test_every_row_is_read_and_every_member_of_a_record_is_known(release: str) -> None:
    kinds = set()
    for row in read(release).rows:
        kind = kind_of(f"{row['PartitionKey']}/{row['RowKey']}")
        assert kind is not None, row["RowKey"]
        READERS[kind](row)
        kinds.add(kind)
        if kind.key in ("n|", "j|") and not is_stub(row):
            assert [*unknown_members(record_of(row))] == [], row["RowKey"]

    if release == __version__:
        assert {one[:2] for one in KINDS} - {one[:2] for one in kinds} == _RARE


@pytest.mark.parametrize("release", RELEASES)
async def test_the_app_starts_on_it_and_its_jobs_go_on(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result, world = read(release), World()
    put(result, world)
    use(world, monkeypatch)

    await layout.claim(world.ledger.table, 4, "")
    report = await audit(world.ports)
    listed = await call("GET", "/api/jobs?limit=100")
    at_work = (await world.job(result.at_work)).fixed_target.name
    world.engine.set_state(at_work, JobState.SUCCEEDED)
    await world.make_pass()
    await world.make_pass(3600)

    assert [one for one in report.differences if one.kind == "row"] == []
    assert listed.status_code == 200
    assert result.at_work.encode() in listed.get_body()
    for job in world.ledger.jobs:
        shown = await call("GET", f"/api/jobs/{job.id}")
        assert shown.status_code == 200, shown.get_body()
    assert (await world.job(result.at_work)).state is JobState.SUCCEEDED
    assert any(result.at_work.encode() in body for _, _, body in world.webhooks.posts)
    world.pass_time(timedelta(days=31).total_seconds())
    await archive(world.ports)
    assert (await world.job(result.at_work)).archived


def test_a_member_that_is_not_known_any_more_is_noticed() -> None:
    """As after a field of the record was renamed."""
    world = World()
    put(read(__version__), world)
    job = next(iter(world.ledger.jobs))
    later = type(job).model_validate({**job.model_dump(), "renamed": 1})

    assert [*unknown_members(later)] == [".renamed"]
