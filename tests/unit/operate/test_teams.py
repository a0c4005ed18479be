"""The document of teams as operators replace it: with every problem, and never over another's change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.adapters.storage.table import Operation, split
from shared.core.caller import ADMIN, READ_ALL, SUBMIT, Caller
from shared.core.errors import Misuse, Unreadable
from shared.core.teams.document import MAX_BYTES
from shared.intake.teams import with_teams
from shared.lifecycle.current_teams import current_teams, forget_teams
from shared.operate.teams import TeamsResult, replace_teams, teams
from tests.unit.world import World

VISION = {"teams": {"vision": {"clusters": ["dev"]}}}


async def put(world: World, document: Any, **more: Any) -> TeamsResult:
    text = document if isinstance(document, bytes) else json.dumps(document, indent=2).encode()
    return await replace_teams(world.ports, text, by="ann", **more)


async def test_a_document_is_written_and_used_at_once(world: World) -> None:
    assert list((await current_teams(world.ports)).teams) == []

    result = await put(world, VISION)

    assert result.changes == ("the team vision is new, with 0 members",)
    assert list((await current_teams(world.ports)).teams) == ["vision"]
    assert (await teams(world.ports)).version == result.version
    assert (await put(world, VISION, version=result.version)).changes == ()


async def test_a_dry_run_shows_the_changes_and_writes_nothing(world: World) -> None:
    result = await put(world, VISION, dry_run=True)

    assert len(result.changes) == 1
    assert await world.ports.teams.get() is None


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (b'{"teams": {\n "a": {"clusters": ["gone"]}}}', 2, 'there is no cluster "gone"'),
        (b'{"teams": {\n "a": {"nodes": 1}}}', 2, "unknown property"),
        (b'{"teams": {\n "a": }', 2, ""),
        (b"[]", 1, "not a JSON object"),
    ],
)
async def test_a_document_with_problems_names_their_places_and_changes_nothing(
    world: World, text: bytes, line: int, message: str
) -> None:
    await put(world, VISION)

    result = await put(world, text)

    assert result.problems[0].place is not None
    assert result.problems[0].place.line == line
    assert message in result.problems[0].message
    assert list((await teams(world.ports)).teams.teams) == ["vision"]


async def test_a_document_that_was_made_from_another_is_refused(world: World) -> None:
    first = await put(world, VISION)
    await put(world, {"teams": {"speech": {}}})

    with pytest.raises(Misuse) as refused:
        await put(world, {}, version=first.version)

    assert refused.value.status == 412


async def test_a_document_that_no_row_can_hold_is_refused(world: World) -> None:
    result = await put(world, b" " * MAX_BYTES + b"{}")

    assert [one.code for one in result.problems] == ["SW001"]


async def damaged(world: World) -> None:
    """What a newer version wrote: a kind of member that this one does not know."""
    await put(world, VISION)
    text = '{"teams": {"vision": {"members": [{"badge": "x"}]}}}'
    key = {"PartitionKey": "teams", "RowKey": "document"}
    await world.ledger.store.write_other(Operation("replace", {**key, **split("Text", text)}))
    forget_teams(world.ports.memo)


async def test_a_row_that_cannot_be_read_stops_what_needs_it(world: World) -> None:
    await damaged(world)

    with pytest.raises(Unreadable):
        await teams(world.ports)
    for roles in ({SUBMIT}, {READ_ALL, SUBMIT}):
        with pytest.raises(Unreadable):
            await with_teams(world.ports, Caller("ann", frozenset(roles)))


async def test_an_operator_goes_on_and_replaces_a_document_that_cannot_be_read(world: World) -> None:
    await damaged(world)

    operator = await with_teams(world.ports, Caller("dan", frozenset({ADMIN}), key="dan"))
    assert dict(operator.teams) == {}
    with pytest.raises(Unreadable):
        await put(world, VISION, version="0" * 32)
    assert (await put(world, {}, dry_run=True)).changes == (
        "the document that could not be read is replaced",
    )
    with pytest.raises(Unreadable):
        await teams(world.ports)

    await put(world, {})

    assert (await teams(world.ports)).teams.teams == {}


async def test_a_document_that_another_process_mended_meanwhile_is_not_overwritten(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await damaged(world)
    get = world.ports.teams.get

    async def first() -> Any:
        try:
            return await get()
        finally:
            monkeypatch.undo()
            await put(world, {"teams": {"speech": {}}})

    monkeypatch.setattr(world.ports.teams, "get", first)
    with pytest.raises(Misuse) as refused:
        await put(world, VISION)

    assert refused.value.status == 412
    assert list((await teams(world.ports)).teams.teams) == ["speech"]
