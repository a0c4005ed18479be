"""The code that a request names: looked up in the scope of its caller, and kept from before its record on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from shared.core.caller import KEY_HOLDER, SUBMIT, Caller
from shared.core.code.snapshots import Snapshot as StoredSnapshot
from shared.core.errors import Misuse, Unavailable
from shared.core.job import Job, JobState, Stored
from shared.core.notify.events import Notice
from shared.intake.accept import Accepted
from shared.intake.code_door import Snapshot, place_of
from shared.intake.desk.code import scope_of
from shared.intake.request_door import (
    request_arrived,
    request_explained,
    request_validated,
    sweep_requested,
)
from shared.intake.rerun import rerun
from shared.jobspec import JsonObject
from tests.doubles.memory import Clock, MemoryLedger
from tests.doubles.memory_snapshots import MemorySnapshots
from tests.unit.archived_code import archived, blob
from tests.unit.intake.desk.doors import SWEEP, read
from tests.unit.world import World, job_json

ANN = Caller("ann", frozenset({SUBMIT}), teams={"vision": False})
BOB = Caller("bob", frozenset({SUBMIT}), teams={"vision": False})
SAM = Caller("sam", frozenset({SUBMIT}), teams={"speech": False})
MIA = Caller("mia", frozenset({SUBMIT}), teams={"vision": False, "speech": False})
NEW = Caller("new", frozenset({SUBMIT}))


@dataclass
class Going(MemorySnapshots):
    """What is looked up is deleted just after that."""

    async def find(self, blob: str) -> StoredSnapshot | None:
        stored = await super().find(blob)
        self.data.clear()
        return stored


class Noting(MemoryLedger):
    """Notes each new record among the requests to the archives."""

    def __init__(self, clock: Clock, order: list[tuple[str, str]]) -> None:
        super().__init__(clock)
        self.order = order

    async def create(self, job: Job, spec: JsonObject | None, notice: Notice | None) -> Stored:
        self.order.append(("record", job.id))
        return await super().create(job, spec, notice)


def message(code: JsonObject, **more: Any) -> JsonObject:
    return {"spec": job_json(), "code": code, **more}


async def post(world: World, code: JsonObject, who: Caller = KEY_HOLDER, key: str = "k") -> Accepted:
    request = read(world.ports, message(code))
    return await request_arrived(world.ports, request, door="http", source=who.source, key=key, who=who)


def codes(job: Job) -> list[tuple[str, str]]:
    return [(one["code"], one["severity"]) for one in job.problems if one["severity"] == "error"]


# Whose it is


def test_members_of_one_team_share_their_archives_and_of_several_keep_their_own() -> None:
    scopes = [scope_of(one) for one in (ANN, BOB, SAM, MIA, NEW, KEY_HOLDER)]

    assert scopes[:3] == ["team-vision", "team-vision", "team-speech"]
    assert scopes[-1] == "all"
    assert len(set(scopes)) == 5
    assert all("/" not in one for one in scopes)


@pytest.mark.parametrize("other", [SAM, MIA, NEW, KEY_HOLDER])
async def test_a_digest_of_another_scope_opens_nothing(world: World, other: Caller) -> None:
    code = archived(world, scope=scope_of(ANN))

    assert (await post(world, code, BOB)).job.code is not None
    assert await place_of(world.ports, Snapshot(code["sha256"], len(b"an archive")), ANN) is None
    assert await place_of(world.ports, Snapshot(code["sha256"], 10), other) is not None
    with pytest.raises(Misuse) as refused:
        await post(world, code, other)

    assert refused.value.status == 404


# What is recorded


async def test_a_job_has_its_code_from_its_first_record_on(world: World) -> None:
    code = archived(world, b"1234567")

    job = (await post(world, {**code, "at": "scripts/digits"})).job

    assert job.code is not None
    assert (job.code.blob, job.code.bytes, job.code.files) == (blob(code), 7, None)
    assert (job.code.at, job.code.origin) == ("scripts/digits", "upload")
    (order,) = world.engine.orders
    assert order.code is not None
    assert (order.code.sha256, order.code.bytes, order.code.at) == (code["sha256"], 7, "scripts/digits")
    assert order.code.address.startswith(f"https://acct.example/snapshots/{blob(code)}?")
    assert "sig" not in repr(order)


async def test_each_job_of_a_sweep_runs_the_code_of_its_sweep(world: World) -> None:
    code = archived(world)
    request = read(world.ports, message(code) | {"sweep": {"lr": [0.1, 0.3]}})

    result = await sweep_requested(world.ports, request, door="http", source="http:", key="k")

    assert result.accepted.code is not None
    assert {job.code.blob for job in world.ledger.jobs if job.code} == {blob(code)}
    assert len(world.ledger.jobs) == 2
    assert [one for one in world.snapshots.requests if one[0] == "touch"] == [("touch", blob(code))]


async def test_a_rerun_runs_what_ran_though_its_caller_could_not_name_it(world: World) -> None:
    code = archived(world, scope=scope_of(ANN))
    first = (await post(world, code, ANN)).job
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()

    again = await rerun(world.ports, first.id, world.receipt(first), who=KEY_HOLDER, key="r")

    assert again.job.code == first.code
    before, after = (order.code for order in world.engine.orders)
    assert before is not None
    assert after is not None
    assert (after.sha256, after.bytes, after.at) == (before.sha256, before.bytes, before.at)


async def test_a_rerun_after_its_code_was_deleted_says_so(world: World) -> None:
    code = archived(world)
    first = (await post(world, code)).job
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()
    assert await world.snapshots.delete(blob(code), world.snapshots.shown[blob(code)].etag)

    with pytest.raises(Misuse) as refused:
        await rerun(world.ports, first.id, world.receipt(first), who=KEY_HOLDER, key="r")

    assert refused.value.status == 410


async def test_the_same_key_with_other_code_is_refused(world: World) -> None:
    await post(world, archived(world))

    assert not (await post(world, archived(world))).created
    with pytest.raises(Misuse) as refused:
        await post(world, archived(world, b"edited"))

    assert refused.value.status == 422


async def test_a_relative_path_is_one_of_the_code_in_the_working_directory(world: World) -> None:
    spec = job_json(pyTorchSettings={"pythonScriptFilePath": "train.py"})
    del spec["properties"]["customToolkitSettings"]
    code = archived(world)

    without = await request_validated(world.ports, read(world.ports, {"spec": spec}))
    beside = await request_validated(world.ports, read(world.ports, {"spec": spec, "code": code}))

    assert "SW087" in [one.code for one in without.problems]
    assert beside.valid


# What is not there


async def test_code_that_is_not_there_is_a_warning_until_it_is_to_be_recorded(world: World) -> None:
    request = read(world.ports, message({"sha256": "0" * 64}))

    checked = await request_validated(world.ports, request)
    explained = await request_explained(world.ports, request, source="http:", key=None)
    with pytest.raises(Misuse) as refused:
        await post(world, {"sha256": "0" * 64})

    assert checked.valid
    assert ("SW116", "warning") in [(one.code, one.severity) for one in checked.problems]
    assert "SW116" in [one["code"] for one in explained["problems"]]
    assert (refused.value.status, str(refused.value)) == (404, "there is no code 000000000000… here")
    assert world.ledger.jobs == []


async def test_a_sweep_of_code_that_is_not_there_is_refused_as_well(world: World) -> None:
    request = read(world.ports, message({"sha256": "0" * 64}) | SWEEP)

    with pytest.raises(Misuse) as refused:
        await sweep_requested(world.ports, request, door="http", source="http:", key="k")

    assert refused.value.status == 404
    assert world.ledger.jobs == []


async def test_a_message_of_the_queue_with_such_code_is_rejected(world: World) -> None:
    job = (await world.message(message({"sha256": "0" * 64}))).job

    assert (job.state, codes(job)) == (JobState.REJECTED, [("SW116", "error")])


async def test_code_above_the_limit_is_refused_with_the_ways_out(world: World) -> None:
    world.policy(code_mib=1)
    code = archived(world, b"x" * ((1 << 20) + 1))

    job = (await post(world, code)).job

    assert (job.state, codes(job)) == (JobState.REJECTED, [("SW116", "error")])
    assert "slipway data put" in job.problems[0]["remedy"]
    with pytest.raises(Misuse) as refused:
        await place_of(world.ports, Snapshot(code["sha256"], (1 << 20) + 1), KEY_HOLDER)
    assert refused.value.status == 413


# What is kept


async def test_code_is_touched_before_the_record_is_made(world: World) -> None:
    code = archived(world)
    world.use(ledger=(ledger := Noting(world.clock, world.snapshots.requests)))

    await post(world, code)

    assert [what for what, _ in ledger.order] == ["find", "touch", "record"]
    assert world.snapshots.shown[blob(code)].accepted


@pytest.mark.parametrize("door", ["http", "queue"])
async def test_code_that_goes_between_the_look_and_the_touch_makes_no_record(world: World, door: str) -> None:
    world.snapshots = Going(world.clock)
    world.use(snapshots=world.snapshots)
    code = archived(world)
    with pytest.raises(Misuse if door == "http" else Unavailable):
        await (post(world, code) if door == "http" else world.message(message(code)))

    assert world.ledger.jobs == []


async def test_a_job_without_code_costs_no_request(world: World) -> None:
    await world.message({"spec": job_json()})

    assert world.snapshots.requests == []


async def test_an_upload_address_takes_one_archive_of_the_caller_once(world: World) -> None:
    place = await place_of(world.ports, Snapshot("a" * 64, 3), ANN)

    assert place is not None
    assert world.snapshots.uploaded(place.address, b"abc")
    assert not world.snapshots.uploaded(place.address, b"xyz")
    assert world.snapshots.data == {f"team-vision/{'a' * 64}": b"abc"}
    assert await place_of(world.ports, Snapshot("a" * 64, 3), ANN) is None
    assert place.expires > world.now
