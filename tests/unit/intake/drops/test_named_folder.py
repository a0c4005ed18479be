"""A request may name a folder of drops as its code: it is frozen as a drop is, and only for its own team."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from shared.core.caller import ADMIN, KEY_HOLDER, READ_ALL, SUBMIT, Caller
from shared.core.errors import Misuse
from shared.core.job import Job, JobState
from shared.core.ports import Content
from shared.core.teams.document import Teams
from shared.intake.request_door import (
    request_arrived,
    request_explained,
    request_validated,
    sweep_requested,
)
from shared.intake.rerun import rerun
from tests.crash.chaos import Chaos, Seam
from tests.doubles.memory import MemoryDrops
from tests.unit.intake.desk.doors import read
from tests.unit.intake.drops.test_freeze import unpacked, upload
from tests.unit.world import World, job_json

FILES = {"v/d/job.json": b"{}", "v/d/slipway.json": b"{}", "v/d/train.py": b"1", "v/d/lib/tools.py": b"2"}
MEMBERS = {"train.py": b"1", "lib/tools.py": b"2"}
ANN = Caller("ann", frozenset({SUBMIT}), teams={"vision": False})
SAM = Caller("sam", frozenset({SUBMIT}), teams={"speech": False})
NEW = Caller("new", frozenset({SUBMIT}))
READER = Caller("ron", frozenset({SUBMIT, READ_ALL}), teams={"speech": False})
OPERATOR = Caller("dan", frozenset({ADMIN}))
OURS = ("SW090", "SW114", "SW116", "SW117", "SW118")
TEAMS = {"vision": {"folders": ["v"]}, "speech": {"folders": ["s"]}}


async def teams(world: World, default: str | None = None) -> None:
    await world.ports.teams.put(Teams.model_validate({"teams": TEAMS, "default": default}), "")


def message(folder: str = "scripts/v/d", **code: Any) -> dict[str, Any]:
    return {"spec": job_json(), "code": {"folder": folder, **code}}


async def post(world: World, document: dict[str, Any], who: Caller = KEY_HOLDER, key: str = "k") -> Job:
    request = read(world.ports, document)
    return (await request_arrived(world.ports, request, door="http", source=who.source, key=key, who=who)).job


def codes(job: Job) -> list[str]:
    return [one["code"] for one in job.problems if one["code"] in OURS]


async def test_a_folder_is_frozen_and_no_edit_changes_its_job(world: World) -> None:
    upload(world, FILES)

    one = await post(world, message(at="scripts/v/d"))
    upload(world, {"v/d/train.py": b"edited"})

    assert unpacked(world, one) == MEMBERS
    assert one.code is not None
    assert (one.code.origin, one.code.at, one.code.files, one.drop) == ("folder", "scripts/v/d", 2, None)
    assert world.engine.orders[0].code is not None
    assert world.snapshots.shown[one.code.blob].accepted


async def test_its_place_is_the_working_directory_unless_the_request_names_another(world: World) -> None:
    upload(world, FILES)

    one = await post(world, message())

    assert one.code is not None
    assert one.code.at == "work"


async def test_the_jobs_of_a_sweep_share_it_and_a_rerun_runs_it_again(world: World) -> None:
    upload(world, FILES)
    request = read(world.ports, {**message(), "sweep": {"lr": [0.1, 0.3]}})

    result = await sweep_requested(world.ports, request, door="http", source="http:", key="s")
    assert result.rejected is None, result.rejected.job.problems
    upload(world, {"v/d/train.py": b"edited"})
    jobs = list(world.ledger.jobs)
    await world.make_pass()
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    again = await rerun(world.ports, jobs[0].id, None, who=KEY_HOLDER, key="r")

    assert [unpacked(world, one) for one in (*jobs, again.job)] == [MEMBERS] * 3


@pytest.mark.parametrize("swept", [False, True])
async def test_it_is_listed_once_for_the_answer_and_for_its_archive(world: World, swept: bool) -> None:
    upload(world, FILES)
    calls = Chaos({})
    world.use(drops=Seam(world.drops, "drops", calls))

    if swept:
        request = read(world.ports, {**message(), "sweep": {"lr": [0.1, 0.3]}})
        await sweep_requested(world.ports, request, door="http", source="http:", key="s")
    else:
        await post(world, message())

    assert len(world.snapshots.data) == 1
    assert calls.calls.count("drops.page") == 2  # of the folder, and of those below it


# Who may


@pytest.mark.parametrize("who", [ANN, READER, OPERATOR, KEY_HOLDER], ids=lambda who: who.name)
async def test_members_of_its_team_may_name_it_and_who_sees_every_job(world: World, who: Caller) -> None:
    await teams(world)
    upload(world, FILES)

    assert unpacked(world, await post(world, message(), who)) == MEMBERS


@pytest.mark.parametrize("with_teams", [True, False])
@pytest.mark.parametrize("folder", ["scripts/v/d", "scripts/v", "scripts/v/nothing-there"])
@pytest.mark.parametrize("who", [SAM, NEW], ids=lambda who: who.name)
async def test_other_callers_do_not_learn_what_lies_there_at_any_door(
    world: World, who: Caller, folder: str, with_teams: bool
) -> None:
    if with_teams:
        await teams(world)
    upload(world, FILES)
    request = read(world.ports, message(folder))
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: post(world, message(folder), who),
        lambda: request_validated(world.ports, request, who),
        lambda: request_explained(world.ports, request, source=who.source, key="k", who=who),
        lambda: sweep_requested(
            world.ports,
            read(world.ports, {**message(folder), "sweep": {"lr": [1]}}),
            door="http",
            source=who.source,
            key="k",
            who=who,
        ),
    ]

    texts = set()
    for ask in calls:
        with pytest.raises(Misuse) as refused:
            await ask()
        assert refused.value.status == 403
        texts.add(str(refused.value))

    assert texts == {"code names a folder of drops, which only members of its team can use"}
    assert (world.snapshots.data, world.ledger.jobs) == ({}, [])


async def test_a_folder_of_no_team_is_one_of_the_default_team(world: World) -> None:
    upload(world, {"x/d/a.py": b"1"})
    await teams(world, default="speech")

    assert (await post(world, message("scripts/x/d"), SAM)).state is JobState.QUEUED
    with pytest.raises(Misuse):
        await post(world, message("scripts/x/d"), ANN)


async def test_a_folder_below_that_belongs_to_another_team_is_not_part_of_it(world: World) -> None:
    document = {"teams": {**TEAMS, "speech": {"folders": ["v/d/lib"]}}}
    await world.ports.teams.put(Teams.model_validate(document), "")
    upload(world, FILES)

    one = await post(world, message(), ANN)

    assert unpacked(world, one).keys() == {"train.py"}
    assert "left out: folders below that belong to other teams" in str(one.problems)
    assert "tools" not in str(one.problems)


async def test_a_message_of_the_queue_cannot_name_a_folder(world: World) -> None:
    upload(world, FILES)

    job = (await world.message(message())).job

    assert (job.state, codes(job), world.snapshots.data) == (JobState.REJECTED, ["SW116"], {})


# What cannot be


@pytest.mark.parametrize(
    ("folder", "code"),
    [
        ("scripts/none", "SW116"),
        ("runs/v/d", "SW116"),
        ("scripts/v/../s", "SW090"),
        ("scripts/.git", "SW090"),
        ("scripts", "SW090"),
        ("scripts/v/d/", "SW090"),
        ("scripts/" + "x/" * 80 + "x", "SW090"),
    ],
)
async def test_what_is_no_folder_of_drops_is_refused_with_its_place(
    world: World, folder: str, code: str
) -> None:
    upload(world, FILES)

    job = await post(world, message(folder))

    (problem,) = [one for one in job.problems if one["severity"] == "error"]
    assert (problem["code"], problem["pointer"][:5]) == (code, "/code")
    assert world.snapshots.data == {}


@pytest.mark.parametrize("code", [{}, {"folder": "scripts/v/d", "sha256": "0" * 64}])
async def test_either_an_archive_or_a_folder_is_named(world: World, code: dict[str, Any]) -> None:
    upload(world, FILES)

    assert codes(await post(world, {"spec": job_json(), "code": code})) == ["SW090"]


async def test_too_many_files_are_refused_as_those_of_a_drop_are(world: World) -> None:
    upload(world, {f"v/d/{number:03}.csv": b"x" for number in range(501)})

    job = await post(world, message())

    assert (codes(job), world.snapshots.data) == (["SW117"], {})


async def test_what_is_left_out_is_said(world: World) -> None:
    upload(world, FILES | {"v/d/.env": b"x", "v/d/other/job.json": b"{}"})

    job = await post(world, message())

    assert (job.state, codes(job)) == (JobState.QUEUED, ["SW118"])
    assert '".env"' in str(job.problems)


async def test_a_request_that_cannot_run_stores_nothing_and_neither_does_a_question(world: World) -> None:
    upload(world, FILES)
    good, bad = message(), {**message(), "spec": job_json(nodeCount="x")}

    await post(world, bad)
    checked = await request_validated(world.ports, read(world.ports, good))
    explained = await request_explained(world.ports, read(world.ports, good), source="http:", key=None)

    assert checked.valid
    assert "code: the files of the folder are in the working directory, as they were accepted" in str(
        explained
    )
    assert world.snapshots.data == {}


@dataclass
class Edited(MemoryDrops):
    """A file changes just before it is read."""

    edits: dict[str, bytes] = field(default_factory=dict)

    async def read(self, name: str, *, etag: str | None = None, limit: int) -> Content | None:
        if name in self.edits:
            self.upload(name, self.edits.pop(name))
        return await super().read(name, etag=etag, limit=limit)


async def test_a_file_that_changes_while_it_is_read_is_said_and_the_next_try_has_it(world: World) -> None:
    world.use(drops=(drops := Edited(world.clock, edits={"v/d/train.py": b"new"})))
    world.drops = drops
    upload(world, FILES)

    with pytest.raises(Misuse) as refused:
        await post(world, message())
    one = await post(world, message())

    assert refused.value.status == 409
    assert unpacked(world, one)["train.py"] == b"new"


@pytest.mark.parametrize("what", ["edited", "deleted", "too large"])
async def test_the_same_key_joins_its_job_after_its_folder_has_changed_or_gone(
    world: World, what: str
) -> None:
    upload(world, FILES)
    first = await post(world, message())
    swept = {**message(), "sweep": {"lr": [1, 2]}}
    sweeps = [
        (await sweep_requested(world.ports, read(world.ports, swept), door="http", source="http:", key="s"))
    ]
    if what == "edited":
        upload(world, {"v/d/train.py": b"edited"})
    elif what == "deleted":
        world.drops.blobs.clear()
    else:
        upload(world, {f"v/d/{number:03}.csv": b"x" for number in range(501)})

    again = await post(world, message())
    sweeps.append(
        await sweep_requested(world.ports, read(world.ports, swept), door="http", source="http:", key="s")
    )

    assert (again.id, again.code) == (first.id, first.code)
    assert sweeps[0].accepted.id == sweeps[1].accepted.id
    assert len(world.snapshots.data) == 1
    if what == "edited":  # the key belongs to that request
        with pytest.raises(Misuse, match="another payload"):
            await post(world, message(at="scripts/d"))


@pytest.mark.parametrize("way", ["first", "after a rejection", "by its blob", "rejected"])
@pytest.mark.parametrize("what", ["edited", "changing", "deleted"])
async def test_a_repeated_request_joins_before_its_folder_is_packed_again(
    world: World, way: str, what: str
) -> None:
    world.use(drops=(drops := Edited(world.clock)))
    world.drops = drops
    upload(world, FILES | {"specs/job.json": json.dumps(job_json()).encode()})
    whole = message()
    if way == "by its blob":
        del whole["spec"]
        whole["specBlob"] = "scripts/specs/job.json"
    if way == "after a rejection":
        await post(world, {**whole, "spec": job_json(nodeCount="x")})
    if way == "rejected":
        files = {name: drops.blobs.pop(name) for name in FILES}
    first = await post(world, whole)
    if way == "rejected":
        drops.blobs.update(files)
    archives = dict(world.snapshots.data)
    if what == "edited":
        upload(world, {"v/d/train.py": b"edited"})
    elif what == "changing":
        drops.edits["v/d/train.py"] = b"new"
    else:
        for name in FILES:
            del drops.blobs[name]

    again = await post(world, whole)

    assert (again.id, again.code) == (first.id, first.code)
    assert world.snapshots.data == archives


async def test_a_repeated_request_for_a_sweep_by_its_blob_joins_before_its_folder_is_packed_again(
    world: World,
) -> None:
    world.use(drops=(drops := Edited(world.clock)))
    world.drops = drops
    upload(world, FILES | {"specs/job.json": json.dumps(job_json()).encode()})
    swept = {"specBlob": "scripts/specs/job.json", "code": {"folder": "scripts/v/d"}, "sweep": {"lr": [1, 2]}}

    async def send() -> str:
        request = read(world.ports, swept)
        result = await sweep_requested(world.ports, request, door="http", source="http:", key="s")
        return result.accepted.id

    first = await send()
    drops.edits["v/d/train.py"] = b"new"

    assert await send() == first
    assert len(world.snapshots.data) == 1
