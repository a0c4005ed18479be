"""A look at a folder: when it is quiet, what it reads, and what it costs when nothing is new."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from shared.core.errors import Misuse
from shared.core.job import Job, JobState
from shared.core.ledger.entries import DropMemo
from shared.core.ports import Content
from shared.intake.drops.drop import FolderResult, look_as_ordered, look_at_folder
from shared.intake.drops.explained import Explanations, explain_folder
from shared.intake.drops.inventory import inventory, unseen
from tests.doubles.memory import MemoryDrops, MemoryLedger
from tests.unit.intake.drops.test_drop import JOB, TEMPLATE
from tests.unit.world import World, job_json

PLAIN = json.dumps(job_json()).encode()
FOLDER = "digits/run/"


class Reads(MemoryDrops):
    """Notes which files are read, and may find one changed."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.read_names: list[str] = []
        self.etags: list[str | None] = []
        self.changed: str = ""

    async def read(self, name: str, *, etag: str | None = None, limit: int) -> Content | None:
        self.read_names.append(name.rpartition("/")[2])
        self.etags.append(etag)
        return None if name == self.changed else await super().read(name, etag=etag, limit=limit)


class Writes(MemoryLedger):
    """Counts what is remembered of drops, and tries to create."""

    remembered = 0
    created = 0

    async def remember(self, memo: DropMemo) -> None:
        self.remembered += 1
        await super().remember(memo)

    async def create(self, *args: Any) -> Any:
        self.created += 1
        return await super().create(*args)


@pytest.fixture
def drops(world: World) -> Reads:
    world.drops = result = Reads(world.clock)
    world.use(drops=result)
    return result


@pytest.fixture
def ledger(world: World) -> Writes:
    world.ledger = result = Writes(world.clock, table=world.ledger.table)
    world.use(ledger=result)
    return result


def upload(world: World, mode: str = "", **bodies: bytes) -> None:
    names = {"job": "job.json", "train": "train.py", "envelope": "slipway.json"}
    for name, body in bodies.items():
        world.drops.upload(FOLDER + names[name], body, mode)


async def looked(world: World) -> FolderResult:
    world.pass_time(60)
    return await look_at_folder(world.ports, FOLDER)


async def accepted(world: World) -> Job:
    (accepted_one,) = (await looked(world)).accepted
    return accepted_one.job


# Quiet


@pytest.mark.parametrize(("settle", "delay"), [(5, 6), (3598, 3599), (7200, 3600)])
async def test_a_folder_that_is_not_quiet_is_looked_at_when_it_will_be(
    world: World, settle: float, delay: float
) -> None:
    world.policy(settle=settle)
    upload(world, job=PLAIN)

    await look_at_folder(world.ports, FOLDER)

    assert [messages[2] for messages in world.queues.messages] == [delay]


async def test_a_folder_is_quiet_a_second_after_its_time(world: World) -> None:
    upload(world, job=PLAIN)
    world.pass_time(world.ports.policy.settle)
    assert (await look_at_folder(world.ports, FOLDER)).waits
    world.pass_time(1)
    assert len((await look_at_folder(world.ports, FOLDER)).accepted) == 1


async def test_a_look_that_comes_too_early_orders_another_one(world: World) -> None:
    upload(world, job=PLAIN)

    await look_as_ordered(world.ports, FOLDER, "", world.now)

    assert len(world.queues.messages) == 1


# What is read


async def test_each_file_is_read_once_at_the_version_that_was_listed(world: World, drops: Reads) -> None:
    upload(world, job=JOB, train=b"print(1)", envelope=b'{"name": "n"}')

    assert (await accepted(world)).name == "n"

    assert sorted(drops.read_names) == ["job.json", "slipway.json", "train.py"]
    assert None not in drops.etags[1:]


@pytest.mark.parametrize("rejected", [False, True])
async def test_of_a_folder_that_has_not_changed_no_script_is_read_and_nothing_is_written(
    world: World, drops: Reads, ledger: Writes, rejected: bool
) -> None:
    upload(world, job=JOB, train=b"print(1)")
    if rejected:
        upload(world, envelope=b'{"nmae": "n"}')
    job = await accepted(world)
    assert (job.state is JobState.REJECTED) is rejected
    drops.read_names.clear()
    written = ledger.remembered

    (again,) = (await looked(world)).accepted

    assert (again.job.id, again.created) == (job.id, False)
    assert set(drops.read_names) == {"job.json"}
    assert ledger.remembered == written


async def test_an_edited_template_has_no_script_read_again(world: World, drops: Reads) -> None:
    drops.upload("digits/job.json", TEMPLATE)
    upload(world, train=b"print(1)")
    await accepted(world)
    drops.upload("digits/job.json", TEMPLATE + b" ")
    drops.read_names.clear()

    await looked(world)

    assert set(drops.read_names) == {"job.json"}


async def test_an_edited_template_joins_the_job_that_runs_though_the_cache_is_lost(world: World) -> None:
    world.drops.upload("digits/job.json", TEMPLATE)
    upload(world, train=b"print(1)")
    job = await accepted(world)
    world.drops.upload("digits/job.json", TEMPLATE.replace(b"python", b"python3"))
    for path in await world.ledger.drop_memos():
        await world.ledger.forget(path)

    assert (await accepted(world)).id == job.id


async def test_a_drop_whose_record_is_gone_is_accepted_again(world: World) -> None:
    upload(world, job=PLAIN)
    job = await accepted(world)
    for key in [key for key in world.ledger.rows if key[1].endswith(job.id)]:
        del world.ledger.held[key]

    (again,) = (await looked(world)).accepted

    assert (again.job.id, again.created) == (job.id, True)


async def test_the_next_generation_is_tried_from_the_one_that_is_known(world: World, ledger: Writes) -> None:
    for generation in (1, 2, 3):
        upload(world, job=PLAIN)
        tried = ledger.created
        assert (await accepted(world)).generation == generation
        assert ledger.created - tried == min(generation, 2)
        world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
        await world.make_pass()
        world.pass_time(10)


async def test_a_hidden_file_beside_a_job_gives_an_inventory_nothing_to_look_at(world: World) -> None:
    upload(world, job=PLAIN)
    world.drops.upload(f"{FOLDER}.swp", b"x")
    await accepted(world)

    assert (await unseen(world.ports)).folders == {}


async def test_the_note_of_a_folder_that_waited_is_taken_away_once(world: World, ledger: Writes) -> None:
    upload(world, job=JOB)
    world.pass_time(120)
    await inventory(world.ports)
    upload(world, train=b"print(1)")
    await looked(world)
    written = ledger.remembered

    await looked(world)

    assert ledger.remembered == written


# What is recorded of it


async def test_a_drop_at_the_top_has_the_default_name_and_experiment(world: World) -> None:
    world.drops.upload("job.json", PLAIN)
    world.pass_time(60)
    (accepted_one,) = (await look_at_folder(world.ports, "")).accepted

    assert (accepted_one.job.name, accepted_one.job.experiment) == ("default", "default")


async def test_the_key_of_a_message_that_is_dropped_is_not_that_of_the_drop(world: World) -> None:
    upload(world, job=json.dumps({"spec": job_json(), "idempotencyKey": "k"}).encode())
    world.drops.upload("other/job.json", json.dumps({"spec": job_json(), "idempotencyKey": "k"}).encode())
    first = await accepted(world)

    (second,) = (await look_at_folder(world.ports, "other/")).accepted

    assert (second.created, second.job.id != first.id) == (True, True)


@pytest.mark.parametrize(("ends", "warned"), [(b"\n", False), (b"\r\n", True)])
async def test_a_shell_script_with_the_line_ends_of_windows_is_warned_of(
    world: World, ends: bytes, warned: bool
) -> None:
    command = "bash $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/run/train.sh"
    document = json.dumps(job_json(customToolkitSettings={"commandLine": command})).encode()
    world.drops.upload(f"{FOLDER}train.sh", b"echo" + ends)
    upload(world, job=document)

    (accepted_one,) = (await looked(world)).accepted

    assert any("Windows" in p["message"] + p["remedy"] for p in accepted_one.job.problems) is warned


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        ({"max_document": 1000, "max_script": 10}, "train.py"),
        ({"max_document": 200, "max_script": 1000}, "slipway.json"),
    ],
)
async def test_a_script_and_an_envelope_have_limits_of_their_own(
    world: World, limits: dict[str, int], named: str
) -> None:
    job = json.dumps(job_json(customToolkitSettings={"commandLine": "python <SLIPWAY_SCRIPT>"}))
    world.drops.upload("digits/job.json", job.encode())
    upload(world, train=b"print('hello')", envelope=json.dumps({"name": "n" * 250}).encode())
    world.policy(**limits)

    (accepted_one,) = (await looked(world)).accepted

    (problem,) = [p for p in accepted_one.job.problems if p["code"] == "SW107"]
    assert named in problem["message"]
    assert "smaller" in problem["remedy"] or "split" in problem["remedy"], problem["remedy"]


@pytest.mark.parametrize(
    ("envelope", "limits", "code"),
    [
        (
            b'{\n "notify": [{"url": "https://a.example"}, {"url": "https://b.example"}]}',
            "max_receivers",
            "SW063",
        ),
        (b'{\n "resources": {"options": {"a": {"b": "c"}}}}', "max_depth", "SW004"),
    ],
)
async def test_an_envelope_keeps_the_limits_and_is_refused_in_its_own_file(
    world: World, envelope: bytes, limits: str, code: str
) -> None:
    upload(world, job=PLAIN, envelope=envelope)
    bounds: dict[str, Any] = {"max_receivers": {"max_receivers": 1}, "max_depth": {"max_depth": 3}}
    world.policy(limits=replace(world.ports.policy.limits, **bounds[limits]))

    (accepted_one,) = (await looked(world)).accepted

    (problem,) = [p for p in accepted_one.job.problems if p["code"] == code]
    assert problem["message"].startswith("slipway.json: ")
    assert problem["line"] > 0


async def test_what_storage_advises_about_a_file_is_the_remedy(world: World) -> None:
    class Refuses(MemoryDrops):
        async def read(self, name: str, *, etag: str | None = None, limit: int) -> Content | None:
            if name.endswith(".py"):
                raise Misuse("train.py is too large", remedy="cut it into pieces")
            return await super().read(name, etag=etag, limit=limit)

    world.drops = Refuses(world.clock)
    world.use(drops=world.drops)
    upload(world, job=JOB, train=b"print(1)")

    (accepted_one,) = (await looked(world)).accepted

    assert [p["remedy"] for p in accepted_one.job.problems if p["code"] == "SW107"] == ["cut it into pieces"]


async def test_a_receiver_that_is_refused_is_placed_in_the_envelope(world: World) -> None:
    upload(world, job=PLAIN, envelope=b'{\n\n "notify": [{"url": "http://h.example.com"}]}')

    (accepted_one,) = (await looked(world)).accepted

    (problem,) = [p for p in accepted_one.job.problems if p["code"] == "SW103"]
    assert (problem["file"], problem["line"]) == ("digits/run/slipway.json", 3)


# Explained


async def test_a_hidden_file_is_no_run_that_is_explained(world: World) -> None:
    template = TEMPLATE.replace(b"<SLIPWAY_SCRIPT>", b"<SLIPWAY_SCRIPT:*train.py>")
    world.drops.upload("digits/job.json", template)
    world.drops.upload(f"{FOLDER}.train.py", b"x")
    upload(world, train=b"print(1)")

    assert len((await explain_folder(world.ports, FOLDER, live=True)).bodies) == 1


async def test_what_was_accepted_is_not_called_explained(world: World) -> None:
    upload(world, job=PLAIN)
    assert (await looked(world)).explained == ()


async def test_a_folder_that_is_incomplete_says_what_it_waits_for_instead(world: World) -> None:
    upload(world, job=JOB)
    assert "digits/run/train.py" in (await explain_folder(world.ports, FOLDER, live=True)).waits


async def test_files_below_a_folder_are_no_part_of_what_is_explained(world: World) -> None:
    upload(world, job=PLAIN)
    world.drops.upload(f"{FOLDER}sub/slipway.json", b'{"name": "other"}')
    world.drops.upload(f"{FOLDER}.swp", b"x")

    result = await explain_folder(world.ports, FOLDER, live=True)

    assert [body["job"]["name"] for body in result.bodies] == ["run"]


@pytest.mark.parametrize("mode", ["", "explain"])
async def test_a_script_that_changes_while_it_is_read_is_left_to_its_own_event(
    world: World, drops: Reads, mode: str
) -> None:
    upload(world, mode, job=JOB, train=b"print(1)")
    drops.changed = f"{FOLDER}train.py"

    assert await looked(world) == FolderResult()
    assert await explain_folder(world.ports, FOLDER, live=True) == Explanations()


async def test_an_explanation_is_for_people_and_takes_the_place_of_an_older_one(world: World) -> None:
    command = {"commandLine": "echo \N{LATIN SMALL LETTER U WITH DIAERESIS}"}
    upload(world, "explain", job=json.dumps(job_json(customToolkitSettings=command)).encode())
    place = "digits/run/run"
    world.drops.receipt_files |= {
        f"{place}/explain.json": b"older words",
        f"{place}/explain.md": b"older words",
    }

    assert (await looked(world)).explained == (place,)

    body = world.drops.receipt_files[f"{place}/explain.json"].decode()
    assert body.startswith('{\n  "')
    assert "echo \N{LATIN SMALL LETTER U WITH DIAERESIS}" in body
    assert world.drops.receipt_files[f"{place}/explain.md"] != b"older words"
