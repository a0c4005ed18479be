"""Folders of the drop container become jobs: in any order, once, and again after the end."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from shared.core.job import Job, JobState
from shared.intake.arrive import blob_arrived, message_arrived
from shared.intake.drops.drop import look_at_folder
from shared.intake.drops.inventory import inventory
from tests.unit.world import World, job_json

SCRIPT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/run/train.py"
JOB = json.dumps(job_json(customToolkitSettings={"commandLine": f"python {SCRIPT}"})).encode()
TEMPLATE = json.dumps(job_json(customToolkitSettings={"commandLine": "python <SLIPWAY_SCRIPT>"})).encode()


async def _settle(world: World) -> list[Job]:
    """Time passes, and the delayed looks that were ordered come back."""
    jobs: list[Job] = []
    for _ in range(5):
        due, world.queues.messages[:] = list(world.queues.messages), []
        if not due:
            return jobs
        world.pass_time(max(delay for _, _, delay in due) + 0.1)
        for _, body, _ in due:
            jobs += [a.job for a in await message_arrived(world.ports, body.encode(), "m") if a.created]
    return jobs


async def _drop(world: World, *names: str, **bodies: bytes) -> list[Job]:
    for name in names:
        body = {"job.json": JOB, "train.py": b"print(1)"}.get(name.rpartition("/")[2], b"x")
        world.drops.upload(name, bodies.get(name.rpartition("/")[2].partition(".")[0], body))
        await blob_arrived(world.ports, "scripts", name)
    return await _settle(world)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_a_folder_runs_once_it_is_complete_in_any_order(world: World, order: tuple[int, int]) -> None:
    files = ("digits/run/job.json", "digits/run/train.py")
    (job,) = await _drop(world, *(files[i] for i in order))

    assert job.state is JobState.QUEUED
    assert job.experiment == "digits"
    assert job.name == "run"
    assert world.receipt(job)["state"] == "queued"
    assert job.receipt.startswith("digits/run/run-")
    assert len(world.engine.started) == 1


async def test_half_of_a_drop_does_not_run(world: World) -> None:
    assert await _drop(world, "digits/run/job.json") == []
    assert await _drop(world, "digits/run/other.txt") == []
    assert world.engine.started == []


async def test_nothing_runs_before_the_folder_has_been_quiet(world: World) -> None:
    for name in ("digits/run/job.json", "digits/run/train.py"):
        world.drops.upload(name, JOB if name.endswith("json") else b"print(1)")
        looked = await look_at_folder(world.ports, "digits/run/")
    assert "settles" in looked.waits
    assert world.engine.started == []


async def test_a_look_that_finds_a_younger_file_orders_the_next_which_that_files_event_joins(
    world: World,
) -> None:
    world.drops.upload("digits/run/job.json", JOB)
    world.drops.upload("digits/run/train.py", b"print(1)")
    await look_at_folder(world.ports, "digits/run/")
    ((_, body, _),) = world.queues.messages
    world.pass_time(3)
    world.drops.upload("digits/run/train.py", b"print(2)")
    world.queues.messages.clear()

    await message_arrived(world.ports, body.encode(), "m")
    await blob_arrived(world.ports, "scripts", "digits/run/train.py")

    assert len(world.queues.messages) == 1
    assert world.engine.started == []


async def test_late_duplicates_of_an_event_start_nothing_even_after_the_end(world: World) -> None:
    (job,) = await _drop(world, "digits/run/job.json", "digits/run/train.py")
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    world.pass_time(3600)

    looked = await blob_arrived(world.ports, "scripts", "digits/run/train.py")

    assert [a.created for a in looked.accepted] == [False]
    assert looked.accepted[0].job.id == job.id
    assert len(world.engine.started) == 1


async def test_dropping_the_same_files_after_the_end_runs_them_again(world: World) -> None:
    (first,) = await _drop(world, "digits/run/job.json", "digits/run/train.py")
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    world.pass_time(10)

    (second,) = await _drop(world, "digits/run/train.py")

    assert second.id != first.id
    assert second.generation == 2
    assert len(world.engine.started) == 2


async def test_dropping_the_same_files_while_the_job_runs_joins_it(world: World) -> None:
    await _drop(world, "digits/run/job.json", "digits/run/train.py")
    assert await _drop(world, "digits/run/train.py") == []
    assert len(world.engine.started) == 1


async def test_a_lost_cache_starts_nothing_twice(world: World) -> None:
    await _drop(world, "digits/run/job.json", "digits/run/train.py")
    for key in [key for key in world.ledger.rows if key[0].startswith("d")]:
        del world.ledger.held[key]

    looked = await blob_arrived(world.ports, "scripts", "digits/run/train.py")

    assert [a.created for a in looked.accepted] == [False]
    assert len(world.engine.started) == 1


async def test_another_script_with_the_same_job_file_is_another_job(world: World) -> None:
    await _drop(world, "digits/run/job.json", "digits/run/train.py")
    (second,) = await _drop(world, "digits/run/train.py", train=b"print(2)")

    assert second.generation == 1
    assert len(world.engine.started) == 2


async def test_with_a_template_above_dropping_the_script_is_all_it_takes(world: World) -> None:
    assert await _drop(world, "digits/job.json", job=TEMPLATE) == []
    (job,) = await _drop(world, "digits/alice/train.py")

    assert job.name == "train"
    command = world.engine.orders[0].document["properties"]["customToolkitSettings"]["commandLine"]
    assert command == "python $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/alice/train.py"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_a_template_never_runs_itself_and_a_script_beside_it_is_told_where_it_would(
    world: World, order: tuple[int, int], caplog: pytest.LogCaptureFixture
) -> None:
    """What a first try looks like."""
    caplog.set_level("INFO", "shared.intake.arrive")
    files = ("digits/job.json", "digits/train.py")

    assert await _drop(world, *(files[i] for i in order), job=TEMPLATE) == []

    assert world.engine.started == []
    assert "folder 'digits/': train.py does not run: " in caplog.text
    world.pass_time(120)
    assert (await inventory(world.ports)).waiting == 1
    note = json.loads(world.drops.receipt_files["digits/waiting.json"])
    assert note["folder"] == "digits/"
    assert note["message"] == (
        "train.py does not run: digits/job.json beside it is a template, which runs scripts of the folders "
        "below, never itself; put the script into a folder below, for example digits/train/train.py, or name "
        "it in job.json in place of <SLIPWAY_SCRIPT>"
    )


async def test_the_inventory_says_it_where_no_event_came_and_takes_it_back(world: World) -> None:
    world.drops.upload("digits/job.json", TEMPLATE)
    world.drops.upload("digits/train.py", b"print(1)")
    world.pass_time(120)
    assert (await inventory(world.ports)).waiting == 1
    assert b"digits/train/train.py" in world.drops.receipt_files["digits/waiting.json"]

    del world.drops.blobs["digits/train.py"]
    (job,) = await _drop(world, "digits/train/train.py")
    await inventory(world.ports)

    assert job.state is JobState.QUEUED
    assert "digits/waiting.json" not in world.drops.receipt_files


@pytest.mark.parametrize("data", [(), ("x.csv",)])
@pytest.mark.parametrize("name", ["train.sh", "Train.PY", "main.py"])
async def test_a_script_that_its_template_does_not_ask_for_is_said_until_the_cause_is_gone(
    world: World, name: str, data: tuple[str, ...]
) -> None:
    world.drops.upload(
        "digits/job.json", TEMPLATE.replace(b"<SLIPWAY_SCRIPT>", b"<SLIPWAY_SCRIPT:train*.py>")
    )
    world.drops.upload(f"digits/{name}", b"print(1)")
    for file in data:
        world.drops.upload(f"digits/data/{file}", b"1,2")
    world.pass_time(120)
    assert (await inventory(world.ports)).waiting == 1 + len(data)
    note = json.loads(world.drops.receipt_files["digits/waiting.json"])
    assert note["message"].startswith(f"{name} does not run: ")
    assert "'train*.py'" in note["message"]

    del world.drops.blobs[f"digits/{name}"]
    await inventory(world.ports)

    assert "digits/waiting.json" not in world.drops.receipt_files


async def test_a_template_and_its_envelope_wait_for_folders_below_in_silence(world: World) -> None:
    world.drops.upload("digits/job.json", TEMPLATE)
    world.drops.upload("digits/slipway.json", b"{}")
    world.pass_time(120)

    assert (await inventory(world.ports)).waiting == 0
    assert "digits/waiting.json" not in world.drops.receipt_files


async def test_several_scripts_under_a_template_without_pattern_are_a_question_to_the_person(
    world: World,
) -> None:
    await _drop(world, "digits/job.json", job=TEMPLATE)
    (job,) = await _drop(world, "digits/alice/helpers.py", "digits/alice/train.py")

    assert job.state is JobState.REJECTED
    assert "SW105" in {p["code"] for p in job.problems}
    assert world.engine.started == []


async def test_a_pattern_in_the_template_names_the_files_that_count(world: World) -> None:
    template = TEMPLATE.replace(b"<SLIPWAY_SCRIPT>", b"<SLIPWAY_SCRIPT:train*.py>")
    await _drop(world, "digits/job.json", job=template)
    jobs = await _drop(world, "digits/a/helpers.py", "digits/a/train1.py", "digits/a/train2.py")

    assert sorted(job.name for job in jobs) == ["train1", "train2"]


async def test_an_envelope_beside_the_job_names_and_subscribes(world: World) -> None:
    envelope = {"name": "mine", "labels": {"team": "vision"}, "notify": [{"url": "https://h.example.com/x"}]}
    (job,) = await _drop(
        world,
        "digits/run/slipway.json",
        "digits/run/job.json",
        "digits/run/train.py",
        slipway=json.dumps(envelope).encode(),
    )

    assert job.name == "mine"
    assert job.labels == {"team": "vision"}
    assert job.notify[0].url.startswith("https://h.example.com/…")


async def test_a_dropped_job_may_be_held(world: World) -> None:
    world.policy(max_hold=timedelta(hours=1))
    names = ("digits/run/slipway.json", "digits/run/job.json", "digits/run/train.py")
    (job,) = await _drop(world, *names, slipway=b'{"hold": "PT30M"}')

    assert job.hold is not None
    assert job.hold.length == timedelta(minutes=30)


async def test_a_broken_envelope_rejects_the_drop_and_names_its_file(world: World) -> None:
    (job,) = await _drop(
        world, "digits/run/slipway.json", "digits/run/job.json", "digits/run/train.py", slipway=b'{"nmae": 1}'
    )

    assert job.state is JobState.REJECTED
    assert any("slipway.json" in p["message"] for p in job.problems)


async def test_a_job_file_that_is_not_json_gets_its_diagnostics(world: World) -> None:
    (job,) = await _drop(world, "digits/run/job.json", job=b'{"properties": }')

    assert job.state is JobState.REJECTED
    assert f"{job.receipt}/diagnostics.txt" in world.drops.receipt_files


async def test_inventory_finds_a_drop_whose_event_never_came(world: World) -> None:
    world.drops.upload("digits/run/job.json", JOB)
    world.drops.upload("digits/run/train.py", b"print(1)")
    world.pass_time(120)

    counted = await inventory(world.ports)
    again = await inventory(world.ports)

    assert (counted.accepted, again.looked) == (1, 0)
    assert len(world.engine.started) == 1


async def test_inventory_leaves_old_files_alone(world: World) -> None:
    world.drops.upload("digits/run/job.json", JOB)
    world.drops.upload("digits/run/train.py", b"print(1)")
    world.pass_time(8 * 24 * 3600)

    assert (await inventory(world.ports)).looked == 0


async def test_an_incomplete_drop_gets_a_note_that_goes_when_it_runs(world: World) -> None:
    world.drops.upload("digits/run/job.json", JOB)
    world.pass_time(120)
    assert (await inventory(world.ports)).waiting == 1
    assert b"digits/run/train.py" in world.drops.receipt_files["digits/run/waiting.json"]

    (job,) = await _drop(world, "digits/run/train.py")

    assert job.state is JobState.QUEUED
    assert "digits/run/waiting.json" not in world.drops.receipt_files


async def test_a_template_and_helpers_below_a_job_wait_for_nothing(world: World) -> None:
    world.drops.upload("digits/job.json", TEMPLATE)
    world.drops.upload("other/job.json", JOB.replace(b"digits/run", b"other"))
    world.drops.upload("other/train.py", b"print(1)")
    world.drops.upload("other/helpers/tools.py", b"x")
    world.pass_time(120)

    assert (await inventory(world.ports)).waiting == 0


async def test_another_container_triggers_nothing(world: World) -> None:
    looked = await blob_arrived(world.ports, "runs", "digits/run/job.json")
    assert looked.accepted == ()


async def test_what_python_leaves_behind_is_no_ones_drop(world: World) -> None:
    await _drop(world, "digits/job.json", job=TEMPLATE)
    await _drop(world, "digits/alice/train.py", "digits/alice/__pycache__/tools.cpython-313.pyc")
    world.pass_time(600)

    assert (await inventory(world.ports)).waiting == 0
    assert len(world.engine.started) == 1


async def test_a_generation_belongs_to_its_content_and_not_to_the_folder(world: World) -> None:
    a, b = b"print('a')", b"print('b')"
    await _drop(world, "digits/run/job.json", "digits/run/train.py", train=a)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    world.pass_time(10)
    await _drop(world, "digits/run/train.py", train=b)
    await _drop(world, "digits/run/train.py", train=a)
    running = len(world.engine.started)

    again = await _drop(world, "digits/run/train.py", train=b)

    assert again == []
    assert len(world.engine.started) == running


async def test_dropping_again_in_the_second_of_the_end_runs_again(world: World) -> None:
    await _drop(world, "digits/run/job.json", "digits/run/train.py")
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    world.now = world.now.replace(microsecond=100_000)
    await world.make_pass(60)
    world.pass_time(0.5)

    (second,) = await _drop(world, "digits/run/train.py")

    assert second.generation == 2


async def test_helpers_in_a_folder_below_a_script_are_no_jobs(world: World) -> None:
    await _drop(world, "digits/job.json", job=TEMPLATE)
    await _drop(world, "digits/alice/train.py", "digits/alice/helpers/tools.py")
    world.pass_time(600)
    counted = await inventory(world.ports)

    assert (counted.accepted, counted.waiting) == (0, 0)
    assert len(world.engine.started) == 1


async def test_editing_a_template_runs_nothing_again(world: World) -> None:
    await _drop(world, "digits/job.json", job=TEMPLATE)
    await _drop(world, "digits/alice/train.py")
    await _drop(world, "digits/job.json", job=TEMPLATE + b" ")
    await _drop(world, "digits/alice/notes.txt")

    assert len(world.engine.started) == 1


@pytest.mark.parametrize("name", ["job.json", "train.py", "slipway.json"])
async def test_a_file_that_is_too_large_gets_a_receipt(world: World, name: str) -> None:
    world.policy(max_document=2000, max_script=2000)
    large = b"{" + b" " * 3000 + b"}"
    names = ["digits/run/slipway.json", "digits/run/train.py", "digits/run/job.json"]
    (job,) = await _drop(world, *names, **{name.partition(".")[0]: large})

    assert job.state is JobState.REJECTED
    assert "SW107" in {problem["code"] for problem in job.problems}


async def test_the_note_on_an_incomplete_drop_under_a_template_goes_when_it_runs(world: World) -> None:
    await _drop(world, "digits/job.json", job=TEMPLATE)
    await _drop(world, "digits/alice/notes.txt")
    world.pass_time(120)
    assert (await inventory(world.ports)).waiting == 1

    await _drop(world, "digits/alice/train.py")

    assert "digits/alice/waiting.json" not in world.drops.receipt_files


async def test_a_folder_of_many_files_is_remembered(world: World) -> None:
    """Also if they are too many for a drop: that is a rejection, and not looked at again."""
    for n in range(3000):
        world.drops.upload(f"digits/run/data-{n:05d}.csv", b"x")
    (job,) = await _drop(world, "digits/run/job.json", "digits/run/train.py")
    world.pass_time(120)

    assert job.state is JobState.REJECTED
    assert "SW117" in [one["code"] for one in job.problems]
    assert (await inventory(world.ports)).looked == 0
