"""A row that cannot be read harms what it is about, and is named by the audit; nothing else answers 500."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import azure.functions as func
import pytest

from shared.adapters.storage.checks.readers import READERS
from shared.core.job import JobState
from shared.core.ledger.kinds import KINDS, RowKind, kind_of
from shared.intake.drops.inventory import inventory
from shared.lifecycle.archive import archive
from shared.lifecycle.push import jobs_ended
from shared.operate.audit import audit
from tests.breadth import every_few, share
from tests.unit.functions.calls import TRIGGER_OF, use
from tests.unit.functions.furnished import Furnished, Snapshot, furnished
from tests.unit.functions.test_rights_table import DOCUMENTS
from tests.unit.routes import ROUTES
from tests.unit.world import World

CANARY = "canary-77"
#: What a damaged column holds; None: it is gone. An object may be the form of a later version.
_DAMAGE: Mapping[str, Any] = {
    "gone": None,
    "a text": CANARY,
    "a number": 5,
    "an object": '{"version": 9}',
    "a list": "[[]]",
}
#: Without these columns of the row `layout` the app does nothing; and what needs the teams.
_WHOLE = {"Shards", "Version"}
_NEEDS_TEAMS = frozenset(
    {"post_job", "post_sweep", "rerun_job", "validate", "explain", "get_teams", "get_usage", "get_trail"}
)
_RETENTION = timedelta(days=31)


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return Snapshot(asyncio.run(furnished(World())))


def _rows(result: Furnished, kind: RowKind) -> list[tuple[str, str]]:
    return [key for key in result.others() if kind_of("/".join(key)) == kind]


def test_every_row_is_of_a_kind_and_every_kind_has_a_row_and_a_reader(snapshot: Snapshot) -> None:
    keys = snapshot.furnished.world.ledger.held
    assert [key for key in keys if kind_of("/".join(key)) is None] == [], "add its kind to kinds.py"
    without = [kind[:2] for kind in KINDS if not _rows(snapshot.furnished, kind)]
    assert without == [("meta", "owner")], "furnish a row of each kind"
    assert READERS.keys() == {*KINDS}
    assert len({kind[:2] for kind in KINDS}) == len(KINDS)


def _columns(result: Furnished, kind: RowKind) -> list[str]:
    """The columns of a row of a kind."""
    row = result.world.ledger.held[_rows(result, kind)[0]].row
    return [column for column in row if column not in ("PartitionKey", "RowKey")]


def _damage(result: Furnished, kind: RowKind, column: str, how: str) -> tuple[str, str]:
    """Damage a column of a row of a kind; the row's key."""
    key = _rows(result, kind)[0]
    stored = result.world.ledger.held[key]
    changed = {**stored.row, column: _DAMAGE[how]}
    whole = {name: value for name, value in changed.items() if value is not None}
    result.world.ledger.held[key] = replace(stored, row=whole)
    return key


def _is_readable(result: Furnished, key: tuple[str, str], kind: RowKind) -> bool:
    try:
        READERS[kind](result.world.ledger.held[key].row)
    except Exception:  # noqa: BLE001 - as for the store, any error is damage
        return False
    return True


async def _answers(result: Furnished, number: int) -> dict[str, func.HttpResponse]:
    """The answer of every operation, about the good job; in a quick run only a third of those that look."""
    answers = {}
    looks = [
        one for one, trigger in TRIGGER_OF.items() if "GET" in {way.value for way in trigger.methods or ()}
    ]
    skipped = set(looks) - set(share(looks, number, 3))
    for operation, trigger in TRIGGER_OF.items():
        if operation in skipped:
            continue
        names = re.findall(r"{\*?(\w+)}", str(trigger.route))
        values = {"id": result.good.id, "directory": "stdouterr"}
        request: Any = func.HttpRequest(
            method=next(iter(trigger.methods or ())).value,
            url=f"/api/{trigger.route}",
            headers={"Content-Type": "application/json", "Idempotency-Key": operation},
            route_params={name: values.get(name, "x") for name in names},
            body=json.dumps(DOCUMENTS.get(operation) or {}).encode(),
        )
        answers[operation] = await ROUTES[operation](request)
    return answers


@pytest.mark.long
@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.key != "owner"], ids=lambda kind: "/".join(kind[:2])
)
async def test_a_damaged_row_stops_nothing_else_and_is_named(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch, kind: RowKind
) -> None:
    for nth, column in enumerate(_columns(snapshot.furnished, kind)):
        for how in every_few(_DAMAGE, nth):
            result = snapshot.copied()
            key = _damage(result, kind, column, how)
            use(result.world, monkeypatch)
            if kind.key == "layout" and column in _WHOLE:
                codes = {one.status_code for one in (await _answers(result, nth)).values()}
                assert codes.isdisjoint({500}), (column, how)
            else:
                await _check(result, key, kind, f"{column}: {how}", nth)


async def _check(result: Furnished, key: tuple[str, str], kind: RowKind, case: str, number: int) -> None:
    """The audit names the row if it cannot be read, no other answer is 500, and everything else goes on."""
    is_readable = _is_readable(result, key, kind)
    report = await audit(result.world.ports)
    named = {one.what: one.message for one in report.differences if one.kind == "row"}
    answers = await _answers(result, number)

    allowed = _NEEDS_TEAMS if kind[:2] == ("teams", "document") else frozenset()
    failed = {name: one.get_body() for name, one in answers.items() if one.status_code == 500}
    assert failed.keys() <= allowed, (case, failed)
    assert report.unknown == [], case
    if is_readable:
        assert "/".join(key) not in named, case
    else:
        assert all(CANARY.encode() not in one.get_body() for one in answers.values()), case
        assert not kind.is_audited or kind.remedy in named["/".join(key)], case
    await _goes_on(result, case)


async def _goes_on(result: Furnished, case: str) -> None:
    """The good job ends, which its receiver hears; everything that timers do goes on."""
    world, good = result.world, result.good
    world.engine.set_state(good.fixed_target.name, JobState.SUCCEEDED)
    await world.make_pass()
    await world.make_pass(3600)
    assert (await world.job(good.id)).state is JobState.SUCCEEDED, case
    assert any(good.id.encode() in body for _, _, body in world.webhooks.posts), case
    await jobs_ended(world.ports, [good.id])
    await inventory(world.ports)
    world.now += _RETENTION
    await archive(world.ports)
    assert (await world.job(good.id)).archived, case
