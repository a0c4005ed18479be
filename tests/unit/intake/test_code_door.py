"""Where code is sent: what others left under the name of an archive is never in its way for ever."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.core.caller import SUBMIT, Caller
from shared.core.errors import Misuse, Unavailable
from shared.core.job import JobState
from shared.intake.code_door import Snapshot, place_of, store
from shared.intake.request_door import request_arrived, request_validated
from tests.doubles.archives import digest
from tests.doubles.memory_snapshots import MemorySnapshots
from tests.unit.intake.desk.doors import read
from tests.unit.world import World, job_json

TRUE = b"the bytes of an archive"
ANN = Caller("ann", frozenset({SUBMIT}), teams={"vision": False})
BLOB = f"team-vision/{digest(TRUE)}"


async def _send(world: World, data: bytes, size: int = len(TRUE)) -> bool:
    """Ask for the place of the true archive, and send something; False where none is wanted."""
    place = await place_of(world.ports, Snapshot(digest(TRUE), size), ANN)
    return place is not None and world.snapshots.uploaded(place.address, data)


@pytest.mark.parametrize("accepted", [False, True])
@pytest.mark.parametrize("other", [b"", b"short", b"\0" * ((1 << 20) + 1)])
async def test_what_is_not_the_archive_makes_room_for_it(world: World, other: bytes, accepted: bool) -> None:
    world.policy(code_mib=1)
    assert await _send(world, other)
    if accepted:  # as it says itself
        await world.snapshots.touch(BLOB)

    assert await _send(world, TRUE)

    assert not await _send(world, b"again")
    request = read(world.ports, {"spec": job_json(), "code": {"sha256": digest(TRUE)}})
    job = (await request_arrived(world.ports, request, door="http", source="", key="k", who=ANN)).job
    assert job.code is not None
    assert (job.state, job.code.blob, job.code.bytes) == (JobState.QUEUED, BLOB, len(TRUE))


async def test_an_archive_that_no_node_can_read_makes_room_for_it(world: World) -> None:
    """Its uploader put it into the archive tier."""
    assert await _send(world, TRUE)
    shown = world.snapshots.shown
    shown[BLOB] = replace(shown[BLOB], is_readable=False)

    assert "SW116" in await _problems(world)
    assert await _send(world, TRUE)
    assert "SW116" not in await _problems(world)


async def _problems(world: World) -> set[str]:
    request = read(world.ports, {"spec": job_json(), "code": {"sha256": digest(TRUE)}})
    return {one.code for one in (await request_validated(world.ports, request, who=ANN)).problems}


async def test_the_word_of_a_caller_deletes_nothing(world: World) -> None:
    await _send(world, TRUE)

    with pytest.raises(Misuse, match=f"has {len(TRUE)} bytes, not 7"):
        await _send(world, b"", size=7)

    assert world.snapshots.data == {BLOB: TRUE}


async def test_what_is_empty_is_said_to_be_missing(world: World) -> None:
    await _send(world, b"")

    request = read(world.ports, {"spec": job_json(), "code": {"sha256": digest(TRUE)}})
    checked = await request_validated(world.ports, request, who=ANN)

    assert ("SW116", "warning") in [(one.code, one.severity) for one in checked.problems]


async def test_through_the_app_an_archive_is_stored_once_in_the_scope_of_its_caller(world: World) -> None:
    first = await store(world.ports, digest(TRUE), TRUE, ANN)
    again = await store(world.ports, digest(TRUE), TRUE, ANN)

    assert (first, again) == (True, False)
    assert world.snapshots.data == {BLOB: TRUE}
    assert [verb for verb, _ in world.snapshots.requests] == ["find", "put", "find"]
    assert await place_of(world.ports, Snapshot(digest(TRUE), len(TRUE)), ANN) is None


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        (digest(TRUE), TRUE + b"x", 422),
        (digest(TRUE), b"", 422),
        (digest(TRUE).upper(), TRUE, 400),
        ("../team-speech", TRUE, 400),
        (digest(b"\0" * ((8 << 20) + 1)), b"\0" * ((8 << 20) + 1), 413),
        (digest(b"\0" * ((1 << 20) + 1)), b"\0" * ((1 << 20) + 1), 413),
    ],
    ids=["other bytes", "none", "capitals", "a path", "above what the app takes", "above the limit of code"],
)
async def test_through_the_app_nothing_else_is_stored(
    world: World, name: str, data: bytes, status: int
) -> None:
    world.policy(code_mib=1)

    with pytest.raises(Misuse) as refused:
        await store(world.ports, name, data, ANN)

    assert refused.value.status == status
    assert world.snapshots.data == {}


async def test_through_the_app_what_is_not_the_archive_makes_room_for_it(world: World) -> None:
    await _send(world, b"short")

    assert await store(world.ports, digest(TRUE), TRUE, ANN)

    assert world.snapshots.data == {BLOB: TRUE}


class Contended(MemorySnapshots):
    """Storage in which another client is always faster."""

    bytes_of_others = b""

    async def put(self, blob: str, data: bytes) -> bool:
        await super().put(blob, self.bytes_of_others)
        return False


@pytest.mark.parametrize("other", [TRUE, b"short"])
async def test_through_the_app_another_client_that_was_faster_counts_if_it_sent_the_archive(
    world: World, other: bytes
) -> None:
    world.use(snapshots=(contended := Contended(world.clock)))
    contended.bytes_of_others = other

    if other == TRUE:
        assert not await store(world.ports, digest(TRUE), TRUE, ANN)
    else:
        with pytest.raises(Unavailable):
            await store(world.ports, digest(TRUE), TRUE, ANN)
