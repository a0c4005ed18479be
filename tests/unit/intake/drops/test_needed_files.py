"""A drop waits for the files that its slipway.json needs, as it waits for the scripts that its job names."""

from __future__ import annotations

import json

import pytest

from shared.core.job import Job, JobState
from shared.intake.arrive import blob_arrived
from shared.intake.drops.drop import look_at_folder
from shared.intake.drops.explained import explain_folder
from shared.intake.drops.inventory import inventory
from tests.crash.chaos import Chaos, Seam
from tests.unit.intake.drops.test_freeze import MOUNT
from tests.unit.world import World, job_json

JOB = json.dumps(
    job_json(customToolkitSettings={"commandLine": "python $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/d/train.py"})
).encode()
TEMPLATE = json.dumps(job_json(customToolkitSettings={"commandLine": "python <SLIPWAY_SCRIPT>"})).encode()
NEEDS = b'{"needs": ["weights.bin", "data/*.csv"]}'
DROP = {"d/job.json": JOB, "d/train.py": b"1", "d/slipway.json": NEEDS}
BELOW_A_TEMPLATE = {"job.json": TEMPLATE, "d/train.py": b"1", "d/slipway.json": NEEDS}


async def looked(world: World, files: dict[str, bytes]) -> tuple[list[Job], str]:
    for name, data in files.items():
        world.drops.upload(name, data)
    world.pass_time(60)
    result = await look_at_folder(world.ports, "d/")
    return [one.job for one in result.accepted], result.waits


@pytest.mark.parametrize("drop", [DROP, BELOW_A_TEMPLATE], ids=["named", "template"])
async def test_a_folder_waits_until_each_need_has_a_file(world: World, drop: dict[str, bytes]) -> None:
    jobs, waits = await looked(world, drop)
    assert not jobs
    assert waits == 'waits for d/weights.bin, a file that matches "data/*.csv", which d/slipway.json needs'

    jobs, waits = await looked(world, {"d/weights.bin": b"w"})
    assert (jobs, waits) == ([], 'waits for a file that matches "data/*.csv", which d/slipway.json needs')

    jobs, waits = await looked(world, {"d/data/a.csv": b"1"})
    assert [job.state for job in jobs] == [JobState.QUEUED]
    assert jobs[0].code is not None
    assert jobs[0].code.files == 3


async def test_a_file_of_nearly_that_name_is_named(world: World) -> None:
    _, waits = await looked(world, {**DROP, "d/Weights.bin": b"w", "d/data/a.csv": b"1"})
    assert waits.endswith('d/slipway.json needs; there is "d/Weights.bin", which differs in case')


@pytest.mark.parametrize("late", ["d/weights.bin", "d/data/a.csv"])
async def test_the_event_of_the_last_file_starts_the_job(world: World, late: str) -> None:
    files = {"d/weights.bin": b"w", "d/data/a.csv": b"1"}
    data = files.pop(late)
    await looked(world, {**DROP, **files})
    world.drops.upload(late, data)
    world.pass_time(60)

    result = await blob_arrived(world.ports, "scripts", late)
    await blob_arrived(world.ports, "scripts", late)  # delivered again

    assert result is not None
    assert len(world.engine.orders) == 1


async def test_the_event_of_another_file_lists_nothing(world: World) -> None:
    await looked(world, DROP)
    chaos = Chaos({})
    world.use(drops=Seam(world.drops, "drops", chaos))
    world.drops.upload("d/data/a.txt", b"x")

    await blob_arrived(world.ports, "scripts", "d/data/a.txt")

    assert "drops.page" not in chaos.calls


async def test_the_inventory_says_what_is_missing_and_finds_it_without_an_event(world: World) -> None:
    for name, body in {**DROP, "d/weights.bin": b"w"}.items():
        world.drops.upload(name, body)
    world.pass_time(3600)
    await inventory(world.ports)
    note = json.loads(world.drops.receipt_files["d/waiting.json"])
    assert 'a file that matches "data/*.csv"' in note["message"]

    world.drops.upload("d/data/a.csv", b"1")
    world.pass_time(60)
    await inventory(world.ports)

    assert len(world.engine.orders) == 1
    assert "d/waiting.json" not in world.drops.receipt_files


async def test_an_explanation_names_what_is_missing(world: World) -> None:
    await looked(world, DROP)

    explained = await explain_folder(world.ports, "d/", live=False)

    assert (explained.bodies, "d/weights.bin" in explained.waits) == ((), True)


@pytest.mark.parametrize(
    ("need", "name", "hint"),
    [
        ("sub/weights.bin", "sub/weights.bin", "another drop"),
        ("sub/in/weights.bin", "sub/in/weights.bin", "another drop"),
        ("sub/*.bin", "sub/weights.bin", ""),
        ("*/*/*.bin", "sub/in/weights.bin", ""),
    ],
)
@pytest.mark.parametrize("most", [1, 100])
async def test_a_file_of_a_drop_below_meets_no_need(
    world: World, need: str, name: str, hint: str, most: int
) -> None:
    world.drops.most = most
    drop = {**DROP, "d/slipway.json": json.dumps({"needs": [need]}).encode(), "d/sub/job.json": b"{}"}

    jobs, waits = await looked(world, {**drop, f"d/{name}": b"w"})
    del world.drops.blobs["d/sub/job.json"]
    later, _ = await looked(world, {})

    assert (jobs, waits.startswith("waits for ")) == ([], True)
    assert hint in waits
    assert [job.state for job in later] == [JobState.QUEUED]


@pytest.mark.parametrize("needs", [["x"], ["?"], ["lib/x"], ["lib/*"], []])
@pytest.mark.parametrize("mounts", [False, True])
async def test_a_job_does_not_begin_without_a_file_that_has_the_name_of_a_folder(
    world: World, needs: list[str], mounts: bool
) -> None:
    twin = "train.py" if not needs else "lib/x" if "lib" in needs[0] else "x"
    mount = {"azureBlobFileSystems": [MOUNT]}
    start = {"commandLine": "python $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/d/train.py"}
    document = job_json(customToolkitSettings=start, **({"mountVolumes": mount} if mounts else {}))
    drop = {
        **DROP,
        "d/job.json": json.dumps(document).encode(),
        "d/slipway.json": json.dumps({"needs": needs}).encode(),
    }

    (job,), _ = await looked(world, {**drop, f"d/{twin}": b"w", f"d/{twin}/y": b"y"})
    explained = await explain_folder(world.ports, "d/", live=True)
    del world.drops.blobs[f"d/{twin}/y"]
    later, _ = await looked(world, {})

    if mounts:  # the node sees what lies there
        assert job.state is JobState.QUEUED
        return
    (problem,) = [one for one in job.problems if one["severity"] == "error"]
    assert (job.state, problem["code"]) == (JobState.REJECTED, "SW117")
    assert f'needs the file "{twin}", and a folder has the same name' in problem["message"]
    assert "SW117" in str(explained.bodies)
    assert [(one.state, one.code.files) for one in later if one.code] == [(JobState.QUEUED, 1 + bool(needs))]


async def test_a_need_that_another_file_meets_is_met(world: World) -> None:
    needs = json.dumps({"needs": ["lib/*"]}).encode()

    (job,), _ = await looked(
        world, {**DROP, "d/slipway.json": needs, "d/lib/x": b"1", "d/lib/x/y": b"1", "d/lib/z": b"1"}
    )

    assert job.state is JobState.QUEUED


@pytest.mark.parametrize("name", ["weights.bin", "data/a.csv"])
async def test_a_file_that_nothing_can_read_meets_no_need(world: World, name: str) -> None:
    files = {"d/weights.bin": b"w", "d/data/a.csv": b"1"}
    del files[f"d/{name}"]
    world.drops.upload(f"d/{name}", b"w", archived=True)

    jobs, waits = await looked(world, {**DROP, **files})

    assert jobs == []
    assert waits.startswith("waits for ")


@pytest.mark.parametrize("wrong", [b'{"needs": ["../x"]}', b'{"needs": ["x"], "nmae": "a"}', b"{"])
async def test_a_folder_with_an_error_in_its_slipway_json_is_rejected_at_once(
    world: World, wrong: bytes
) -> None:
    jobs, _ = await looked(world, {**DROP, "d/slipway.json": wrong})
    assert [job.state for job in jobs] == [JobState.REJECTED]


async def test_a_corrected_slipway_json_waits_no_longer(world: World) -> None:
    await looked(world, DROP)
    jobs, _ = await looked(world, {"d/slipway.json": b"{}"})
    assert [job.state for job in jobs] == [JobState.QUEUED]


async def test_a_version_of_a_slipway_json_is_read_once_while_it_waits(world: World) -> None:
    chaos = Chaos({})
    world.use(drops=Seam(world.drops, "drops", chaos))
    await looked(world, DROP)
    before = chaos.calls.count("drops.read")
    await looked(world, {"d/weights.bin": b"w"})

    assert chaos.calls.count("drops.read") == before + 1  # the job.json, as at each look
