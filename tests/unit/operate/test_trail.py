"""The trail: its pages, its conditions, and lines that are torn or hostile."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from shared.core.caller import ADMIN, READ_ALL, SUBMIT, Caller
from shared.core.errors import Misuse
from shared.core.ledger.activity import Act
from shared.operate.trail import CHUNK, MOST_REQUESTS, TrailPage, trail
from tests.unit.world import World

NOON = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)
OPERATOR = Caller("dan", frozenset({ADMIN}))
MANAGER = Caller("mia", frozenset({SUBMIT}), teams={"vision": True, "speech": False})
BLOB = "activity/2026-11-25/12.jsonl"


def act(number: int, at: datetime = NOON, *, by: str = "ann", team: str = "vision") -> Act:
    return Act(at, by, (SUBMIT,), "cancel_job", f"j_{number}", 202, "", team)


async def pages(world: World, who: Caller = OPERATOR, **parameters: str) -> list[TrailPage]:
    """Every page to the end of the trail."""
    result = [await trail(world.ports, parameters, who)]
    while after := result[-1].next:
        assert len(result) < 1000
        result.append(await trail(world.ports, {**parameters, "after": after}, who))
    return result


async def subjects(world: World, who: Caller = OPERATOR, **parameters: str) -> list[str]:
    return [one.subject for page in await pages(world, who, **parameters) for one in page.acts]


@pytest.mark.parametrize("limit", ["1", "2", "3", "7", "200"])
async def test_the_newest_act_comes_first_and_pages_lose_and_repeat_none(world: World, limit: str) -> None:
    for number in range(7):
        await world.activity.add(act(number, NOON + timedelta(hours=9 * number)))

    assert await subjects(world, limit=limit) == [f"j_{number}" for number in reversed(range(7))]


async def test_acts_that_come_while_one_reads_shift_no_page(world: World) -> None:
    for number in range(4):
        await world.activity.add(act(number))
    first = await trail(world.ports, {"limit": "2"}, OPERATOR)
    await world.activity.add(act(9))

    second = await trail(world.ports, {"limit": "2", "after": first.next}, OPERATOR)

    assert [one.subject for one in (*first.acts, *second.acts)] == ["j_3", "j_2", "j_1", "j_0"]


async def test_conditions_leave_the_acts_that_fit(world: World) -> None:
    await world.activity.add(act(1, by="ann"))
    await world.activity.add(act(2, NOON + timedelta(days=1), by="bob", team=""))
    await world.activity.add(Act(NOON, "ann", (), "post_job", "", 202, "/api/jobs/j_3", "speech"))

    assert await subjects(world, by="bob") == ["j_2"]
    assert await subjects(world, team="vision") == ["j_1"]
    assert await subjects(world, operation="post_job") == [""]
    assert await subjects(world, about="j_1") == ["j_1"]
    assert await subjects(world, about="j_3") == [""]
    assert await subjects(world, day="2026-11-26") == ["j_2"]
    assert await subjects(world, day="2025-11-26") == []


async def test_managers_see_the_acts_on_jobs_of_the_teams_that_they_manage(world: World) -> None:
    for number, team in enumerate(("vision", "speech", "", "other")):
        await world.activity.add(act(number, team=team))

    assert await subjects(world, MANAGER) == ["j_0"]
    assert await subjects(world, MANAGER, team="speech") == []
    for roles in ({SUBMIT}, {READ_ALL}):
        with pytest.raises(Misuse, match="needs the role") as refused:
            await trail(world.ports, {}, Caller("bob", frozenset(roles), teams={"vision": False}))
        assert refused.value.status == 403


GOOD = act(1).line
HOSTILE = {
    "torn": GOOD[:40] + b"\n",
    "torn at the end of all": GOOD[:40],
    "no JSON": b"\x00\xff\xfe{\n",
    "another document": b"[1, 2]\n" + b"7\n" + b'"text"\n' + b"null\n" + b"{}\n",
    "deep": b"[" * 100_000 + b"\n",
    "a lone surrogate": GOOD.replace(b"ann", b"\\ud800"),
    "a code of a terminal": GOOD.replace(b"ann", b"\\u001b[31m"),
    "details that are an object": GOOD.replace(b'"ann"', b'"ann", "detail": {}'),
    "details in another line": GOOD.replace(b'"ann"', b'"ann", "detail": "a\\nb"'),
    "an endless name": GOOD.replace(b"ann", b"a" * 100_000),
    "longer than what is read at once": b"x" * (2 * CHUNK + 5) + b"\n",
    "a status that is none": GOOD.replace(b"202", b"true") + GOOD.replace(b"202", b"9999999999999999999"),
    "a time without a zone": GOOD.replace(b"+00:00", b""),
    "a time before all that can be written": GOOD.replace(
        b"2026-11-25T12:00:00+00", b"0001-01-01T00:00:00+14"
    ),
    "a time after all that can be written": GOOD.replace(
        b"2026-11-25T12:00:00+00", b"9999-12-31T23:59:59-14"
    ),
    "roles in an object": GOOD.replace(b'["Jobs.Submit"]', b'{"a": 1}') + GOOD.replace(b'"ann"', b"{}"),
}


@pytest.mark.parametrize("case", HOSTILE)
async def test_a_line_that_cannot_be_read_hides_no_other(world: World, case: str) -> None:
    world.activity.blobs[BLOB] = GOOD + HOSTILE[case]
    if HOSTILE[case].endswith(b"\n"):
        await world.activity.add(act(2))

    page = await trail(world.ports, {}, OPERATOR)

    after = ["j_2"] if HOSTILE[case].endswith(b"\n") else []
    assert [one.subject for one in page.acts] == [*after, "j_1"]
    assert page.unreadable > 0
    assert page.next == ""
    json.dumps([one.as_json() for one in page.acts], ensure_ascii=False).encode()
    assert (await trail(world.ports, {}, MANAGER)).unreadable == 0


async def test_empty_lines_are_passed_over(world: World) -> None:
    world.activity.blobs[BLOB] = b"\n\n" + GOOD + b"\n\n"

    (page,) = await pages(world)

    assert ([one.subject for one in page.acts], page.unreadable) == (["j_1"], 0)


@pytest.mark.long
async def test_one_page_reads_a_bounded_part_of_a_long_trail_and_the_next_goes_on(world: World) -> None:
    line = act(1, by="bob").line
    world.activity.blobs[BLOB] = GOOD + line * ((MOST_REQUESTS + 1) * CHUNK // len(line))

    first = await trail(world.ports, {"by": "ann"}, OPERATOR)

    assert (first.acts, world.activity.reads) == ([], MOST_REQUESTS)
    assert await subjects(world, by="ann") == ["j_1"]


async def test_one_page_looks_at_a_bounded_number_of_days(world: World) -> None:
    for number in range(MOST_REQUESTS + 2):
        await world.activity.add(act(number, NOON + timedelta(days=number)))
    world.activity.blobs |= {f"activity/2027-03-{day}/12.jsonl": b"" for day in range(10, 32)}

    result = [len(page.acts) for page in await pages(world, about="j_0")]

    assert 3 <= len(result) <= 5
    assert result == [*([0] * (len(result) - 1)), 1]


@pytest.mark.parametrize(
    "parameters",
    [
        {"limit": "0"},
        {"limit": "201"},
        {"limit": "x"},
        {"day": "yesterday"},
        {"after": "../../x"},
        {"after": "1"},
    ],
)
async def test_a_parameter_that_is_none_is_refused(world: World, parameters: dict[str, str]) -> None:
    with pytest.raises(Misuse) as refused:
        await trail(world.ports, parameters, OPERATOR)

    assert refused.value.status == 400


async def test_a_place_after_the_end_of_what_is_there_ends_the_trail(world: World) -> None:
    await world.activity.add(act(1))

    for after, acts in (("2026-11-25T12.99999", 1), ("2026-11-25T11.5", 0), ("2020-01-01T00.0", 0)):
        page = await trail(world.ports, {"after": after}, OPERATOR)
        assert (len(page.acts), page.next) == (acts, "")
