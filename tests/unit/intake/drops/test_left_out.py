"""What of a folder is not part of its job is said: in STATUS, in the record, in the explanation."""

from __future__ import annotations

import json

import pytest

from shared.core.job import Job
from shared.intake.drops.explained import explain_folder
from tests.unit.intake.drops.test_freeze import MOUNT, ROOT, dropped, job, unpacked, upload
from tests.unit.world import World

SOURCES = {"d/job.json": job(), "d/slipway.json": b"{}", "d/train.py": b"1", "d/lib/tools.py": b"2"}
HIDDEN, REFUSED = "hidden files and folders of tools", "names that no node can show"
TWINS, DROPS = "files beside a folder of the same name", "folders that are drops of their own"


def warning(one: Job) -> str:
    """What the record says."""
    return "".join(str(two["message"]) for two in one.problems if two["code"] == "SW118")


CASES = {
    "hidden": ({".env": b"x"}, f'{HIDDEN} (".env")'),
    "of tools": (
        {".git/config": b"x", "__pycache__/a.pyc": b"x", "lib/__pycache__/b.pyc": b"x"},
        f'{HIDDEN} (".git/", "__pycache__/", "lib/__pycache__/")',
    ),
    "hidden below": ({"lib/.env": b"x", "lib/deep/.venv/x/y.py": b"x"}, '("lib/.env", "lib/deep/.venv/")'),
    "refused": ({"lib//a.py": b"x"}, f'{REFUSED} ("lib//a.py")'),
    "beside": ({"lib": b"x"}, f'{TWINS} ("lib")'),
    "another drop": (
        {"other/job.json": b"{}", "other/x.py": b"x", "other/in/job.json": b"{}", "other/.env": b"x"},
        f'{DROPS} ("other/")',
    ),
    "hidden drop": ({".ipynb_checkpoints/job.json": b"{}"}, f'{HIDDEN} (".ipynb_checkpoints/")'),
    "several": (
        {".a": b"", ".b": b"", ".c": b"", ".d": b"", "lib": b"x", "o/job.json": b"{}"},
        f'{HIDDEN} (".a", ".b", ".c" and 1 more), {TWINS} ("lib"), {DROPS} ("o/")',
    ),
}


@pytest.mark.parametrize("most", [3, 100], ids=["small pages", "one page"])
@pytest.mark.parametrize("case", CASES)
async def test_what_is_left_out_is_said(world: World, case: str, most: int) -> None:
    world.drops.most = most
    files, says = CASES[case]
    (one,) = await dropped(world, SOURCES | {f"d/{name}": data for name, data in files.items()})

    assert warning(one).startswith("left out: ")
    assert says in warning(one)
    assert warning(one) in world.drops.receipt_files[one.status_file].decode()
    assert warning(one) in json.dumps(world.receipt(one)["problems"], ensure_ascii=False).replace('\\"', '"')
    assert unpacked(world, one).keys() == {"train.py", "lib/tools.py"}


@pytest.mark.parametrize("case", CASES)
async def test_an_explanation_says_it_before(world: World, case: str) -> None:
    files, says = CASES[case]
    upload(world, SOURCES | {f"d/{name}": data for name, data in files.items()})
    world.pass_time(60)

    (body,) = (await explain_folder(world.ports, "d/", live=True)).bodies

    assert any(says in two["message"] for two in body["problems"] if two["code"] == "SW118")


async def test_at_the_top_of_the_container_folders_are_named(world: World) -> None:
    (one,) = await dropped(
        world, {"job.json": job(f"python {ROOT}/train.py"), "train.py": b"1", "lib/tools.py": b"2"}, ""
    )

    assert f'{DROPS} ("lib/")' in warning(one)


async def test_where_all_is_part_of_the_job_nothing_is_said(world: World) -> None:
    (one,) = await dropped(world, SOURCES)

    assert (warning(one), one.absent_files) == ("", "")


async def test_a_job_that_mounts_the_container_leaves_nothing_out(world: World) -> None:
    mounts = job(mountVolumes={"azureBlobFileSystems": [MOUNT]})
    (one,) = await dropped(world, {"d/job.json": mounts, "d/train.py": b"1", "d/.env": b"x"})

    assert warning(one) == ""


async def test_ten_thousand_hidden_files_are_counted_in_a_few_words(world: World) -> None:
    (one,) = await dropped(world, SOURCES | {f"d/.{number}": b"" for number in range(3_000)})

    assert "and more than 99 more" in warning(one)
    assert len(warning(one)) < 300
