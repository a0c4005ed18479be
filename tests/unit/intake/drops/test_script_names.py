"""Scripts with unusual names: each door runs them, or says which character it cannot take; none waits."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest

from shared.core.job import Job, JobState
from shared.intake.drops.drop import look_at_folder
from shared.intake.drops.inventory import inventory
from tests.breadth import one_each, pairs
from tests.names import NAMES as NAMES_OF_FILES
from tests.unit.intake.test_every_door import REQUESTS
from tests.unit.script_names import NAMES, ONLY_OF_TEMPLATES, REFUSED, WARNED
from tests.unit.world import World, job_json

ROOT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts"


def job_for(path: str, **properties: Any) -> bytes:
    toolkit = {"customToolkitSettings": None, "pyTorchSettings": {"pythonScriptFilePath": path}}
    document = job_json(**toolkit, **properties)
    del document["properties"]["customToolkitSettings"]
    return json.dumps(document).encode()


async def dropped(world: World, name: str, job: bytes, template: str = "") -> Job | None:
    """The job of a folder with this script, after an event and an inventory; None if it waits."""
    world.drops.upload(f"d/{name}", b"print()")
    world.drops.upload(template or "d/job.json", job)
    world.pass_time(90)
    folder = f"d/{name}".rpartition("/")[0] if template else "d"
    looked = await look_at_folder(world.ports, f"{folder}/")
    await inventory(world.ports)
    waiting = [json.loads(body) for place, body in world.drops.receipt_files.items() if "waiting" in place]
    assert [note["message"] for note in waiting if f"{folder}/" == note["folder"]] == []
    return looked.accepted[0].job if looked.accepted else None


def headline(job: Job | None) -> str:
    assert job is not None
    assert job.state is JobState.REJECTED
    return job.last_error


@pytest.mark.parametrize("name", NAMES, ids=ascii)
async def test_a_folder_runs_the_script_that_its_job_names(world: World, name: str) -> None:
    job = await dropped(world, name, job_for(f"{ROOT}/d/{name}"))

    assert job is not None
    assert job.state is not JobState.REJECTED
    assert job.drop is not None
    assert set(job.drop.files) == {"d/job.json", f"d/{name}"}


@pytest.mark.parametrize("name", [*NAMES, *WARNED], ids=ascii)
async def test_a_template_runs_it_where_a_field_holds_its_path(world: World, name: str) -> None:
    job = await dropped(world, name, job_for("<SLIPWAY_SCRIPT>"), "job.json")

    assert job is not None
    assert job.state is not JobState.REJECTED
    (order,) = world.engine.orders
    path = order.document["properties"]["pyTorchSettings"]["pythonScriptFilePath"]
    assert path == f"{ROOT}/d/{name}"


@pytest.mark.parametrize(("door", "name"), pairs(REQUESTS, NAMES))
async def test_by_a_request_there_is_no_warning_of_a_script_that_is_there(
    world: World, door: str, name: str
) -> None:
    world.drops.upload(f"d/{name}", b"print()")
    mount = {"accountName": "acct", "containerName": "scripts", "relativeMountPath": "scripts"}
    text = job_for(f"{ROOT}/d/{name}", mountVolumes={"azureBlobFileSystems": [mount]})

    problems = await REQUESTS[door](world, text.decode())

    assert {one["code"] for one in problems} <= {"SW034"}


@pytest.mark.parametrize("name", WARNED, ids=ascii)
@pytest.mark.parametrize("command", [False, True], ids=["in a field for a path", "quoted in a command"])
async def test_a_name_with_another_blank_runs_and_the_warning_names_it(
    world: World, name: str, command: bool
) -> None:
    line = {"commandLine": f"python '{ROOT}/d/{name}'"}
    text = (
        json.dumps(job_json(customToolkitSettings=line)).encode() if command else job_for(f"{ROOT}/d/{name}")
    )

    job = await dropped(world, name, text)

    assert job is not None
    assert job.state is JobState.QUEUED, job.last_error
    (warning,) = [one for one in job.problems if one["code"] == "SW089"]
    assert (warning["severity"], WARNED[name] in warning["message"]) == ("warning", True)


@pytest.mark.parametrize("name", REFUSED, ids=ascii)
async def test_a_name_that_no_path_can_have_is_rejected_with_its_character(world: World, name: str) -> None:
    job = await dropped(world, name, job_for(f"{ROOT}/d/{name}"))

    assert REFUSED[name] in headline(job)


@pytest.mark.parametrize("name", REFUSED, ids=ascii)
async def test_a_template_names_the_file_and_the_character(world: World, name: str) -> None:
    job = await dropped(world, name, job_for("<SLIPWAY_SCRIPT>"), "job.json")

    if job is None:  # a note says so: the file begins nothing
        (note,) = [
            json.loads(body) for place, body in world.drops.receipt_files.items() if "unusable" in place
        ]
        assert (note["file"], REFUSED[name] in note["message"]) == (f"d/{name}", True)
    else:
        assert REFUSED[name] in headline(job)
        assert '"d/' in headline(job)


@pytest.mark.parametrize("name", ONLY_OF_TEMPLATES)
async def test_a_template_refuses_what_would_be_read_as_something_else(world: World, name: str) -> None:
    job = await dropped(world, name, job_for("<SLIPWAY_SCRIPT>"), "job.json")

    assert f'because "d/{name}" has the character {ONLY_OF_TEMPLATES[name]}' in headline(job)


async def test_a_template_refuses_a_name_that_no_node_can_open(world: World) -> None:
    job = await dropped(world, "x" * 256 + ".py", job_for("<SLIPWAY_SCRIPT>"), "job.json")

    assert "has a level of 259 bytes, and file systems take 255" in headline(job)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("ok.py", "-c.py")], ids=ascii)
async def test_in_the_command_line_of_a_template_letters_run_and_others_are_named(
    world: World, name: str
) -> None:
    body = json.dumps(job_json(customToolkitSettings={"commandLine": "python <SLIPWAY_SCRIPT>"})).encode()
    job = await dropped(world, name, body, "job.json")

    assert job is not None
    if all(one.isalnum() or one in "/._" or unicodedata.combining(one) for one in name):
        assert job.state is not JobState.REJECTED
    else:
        assert "which no command line takes unquoted" in headline(job)
        assert "a space" in headline(job) or "U+" in headline(job)


#: Of the corpus, a name of each kind.
_NAMED = ((kind, name) for kind, names in NAMES_OF_FILES.items() for name in names)
CORPUS = one_each(_NAMED, lambda one: one[0])


@pytest.mark.parametrize("name", [name for _, name in CORPUS], ids=ascii)
async def test_no_folder_waits_for_a_name_that_was_not_written(world: World, name: str) -> None:
    job = await dropped(world, f"{name}.py", job_for(f"{ROOT}/d/{name}.py"))

    assert job is not None
    assert job.drop is not None
    assert set(job.drop.files) == {"d/job.json", f"d/{name}.py"}
    if job.state is JobState.REJECTED:
        reasons = ("U+", "looks like a placeholder", "has a level of")
        assert any(reason in job.last_error for reason in reasons)
