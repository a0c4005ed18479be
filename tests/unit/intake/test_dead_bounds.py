"""Dead messages at their bounds: what is too long, what cannot be decoded, what points to another one."""

from __future__ import annotations

import json

import pytest

from shared.core.errors import Unavailable
from shared.intake.dead_letter import _POINTER, REDRIVE, bury, bury_poison, pointed_to, put_off
from tests.unit.world import World


async def test_a_reason_is_as_long_as_a_person_reads(world: World) -> None:
    await bury(world.ports, "jobs", "m1", b"{}", 41, Unavailable("x" * 600))

    (dead,) = await world.dead.all()
    assert dead.reason == f"tried 41 times; {'x' * 500}"


async def test_what_points_to_a_dead_message_is_none_itself(world: World) -> None:
    await bury_poison(world.ports, "jobs", "p7", json.dumps({"type": REDRIVE, "dead": "d_1"}).encode())

    assert await world.dead.all() == []


async def test_a_poison_message_is_put_off_with_any_bytes(world: World) -> None:
    await put_off(world.ports.queues, "jobs", "p7", b"\xff\x00", Unavailable("no answer"))

    assert world.queues.messages == [("jobs-poison", "\ufffd\x00", 300.0)]


def _pointer(length: int) -> bytes:
    short = json.dumps({"type": REDRIVE, "dead": ""})
    return json.dumps({"type": REDRIVE, "dead": "d" * (length - len(short))}).encode()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (json.dumps({"type": REDRIVE, "dead": "d_1"}).encode(), "d_1"),
        (json.dumps({"type": REDRIVE}).encode(), ""),
        (json.dumps({"type": "another", "dead": "d_1"}).encode(), None),
        (b"[1]", None),
    ],
)
def test_the_message_that_another_one_points_to(body: bytes, expected: str | None) -> None:
    assert pointed_to(body) == expected


def test_what_is_longer_than_a_pointer_is_a_message() -> None:
    assert (pointed_to(_pointer(_POINTER)) or "").startswith("ddd")
    assert pointed_to(_pointer(_POINTER + 1)) is None
