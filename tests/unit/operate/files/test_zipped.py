"""A small directory as one ZIP file."""

from __future__ import annotations

import io
import zipfile

import pytest

from shared.core.engine import OutputFile
from shared.core.errors import Misuse
from shared.core.job import Job, JobState
from shared.operate.files.zipped import BOUNDS, Zipped, zipped
from tests.unit.world import World, job_json


@pytest.fixture
async def job(world: World) -> Job:
    """A job that runs and has written some files."""
    started = (await world.message(job_json())).job
    world.engine.output |= {
        "stdout.txt": b"one\n",
        "models/b.bin": b"bbb",
        "models/deep/a.bin": b"a",
        "models/empty": b"",
    }
    world.engine.set_state(world.engine.started[-1], JobState.RUNNING)
    await world.make_pass()
    return started


async def zipped_of(world: World, job: Job, path: str = ".", **bounds: int) -> Zipped:
    return await zipped(world.ports, job.id, "stdouterr", path, bounds=BOUNDS._replace(**bounds))


def content(archive: Zipped) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive.data)) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name) for name in opened.namelist()}


async def test_a_directory_is_laid_out_as_a_download_of_it(world: World, job: Job) -> None:
    assert content(await zipped_of(world, job)) == {
        "stdouterr/models/b.bin": b"bbb",
        "stdouterr/models/deep/a.bin": b"a",
        "stdouterr/models/empty": b"",
        "stdouterr/stdout.txt": b"one\n",
    }


async def test_a_folder_in_it_is_one_too(world: World, job: Job) -> None:
    assert content(await zipped_of(world, job, "models/deep")) == {"stdouterr/models/deep/a.bin": b"a"}


async def test_a_program_is_one_when_it_is_unpacked(world: World, job: Job) -> None:
    world.engine.listed["models"] = (
        OutputFile("b.bin", 3, None, executable=True),
        OutputFile("empty", 0, None, executable=False),
    )
    archive = await zipped_of(world, job, "models")

    with zipfile.ZipFile(io.BytesIO(archive.data)) as opened:
        modes = {info.filename: info.external_attr >> 16 & 0o777 for info in opened.infolist()}
    assert modes == {"stdouterr/models/b.bin": 0o755, "stdouterr/models/empty": 0o644}


async def test_what_is_left_out_has_its_reason_and_empty_folders_come_along(world: World, job: Job) -> None:
    world.engine.listed["models"] = (
        OutputFile("b.bin", 3, None),
        OutputFile("out", None, None, link=True),
        OutputFile("gone", None, None, link=True, kind="nowhere"),
        OutputFile("pipe", None, None, left_out=True, kind="pipe"),
        OutputFile("none", None, None),
    )
    world.engine.listed["models/none"] = ()
    archive = await zipped_of(world, job, "models")

    with zipfile.ZipFile(io.BytesIO(archive.data)) as opened:
        assert opened.namelist() == ["stdouterr/models/b.bin", "stdouterr/models/none/"]
        assert opened.getinfo("stdouterr/models/none/").is_dir()
        reasons = {"gone": "a link that leads nowhere", "out": "a link out of the folder", "pipe": "a pipe"}
        ends = ", ".join(f"models/{name} ({why})" for name, why in reasons.items())
        assert opened.comment.decode().endswith(f": {ends}")


async def test_the_same_files_make_the_same_bytes(world: World, job: Job) -> None:
    first = await zipped_of(world, job)
    world.engine.output = dict(reversed(world.engine.output.items()))

    assert (await zipped_of(world, job)).data == first.data


async def test_a_file_larger_than_one_read_is_whole(world: World, job: Job) -> None:
    assert content(await zipped_of(world, job, "models", chunk=2))["stdouterr/models/b.bin"] == b"bbb"


@pytest.mark.parametrize(
    ("bound", "value", "what"),
    [
        ("data", 7, "more than 7 bytes"),
        ("files", 3, "more than 3 files"),
        ("folders", 2, "more than 2 folders, or links that lead in circles"),
        (
            "levels",
            1,
            r'stdouterr has more than 1 levels of folders \(the first is "stdouterr/models/deep"\)',
        ),
    ],
)
async def test_what_is_not_small_is_refused_with_the_command_that_fetches_it(
    world: World, job: Job, bound: str, value: int, what: str
) -> None:
    with pytest.raises(Misuse, match=what) as refused:
        await zipped_of(world, job, ".", **{bound: value})

    assert (refused.value.status, refused.value.remedy) == (413, f"slipway download {job.id} 'stdouterr'")


async def test_a_deep_path_is_named_with_its_beginning_alone(world: World, job: Job) -> None:
    world.engine.output = {"/".join(f"level-{number}" for number in range(50)): b"x"}

    with pytest.raises(Misuse, match="more than 32 levels of folders") as refused:
        await zipped_of(world, job, ".")

    assert "stdouterr/level-0/level-1/" in str(refused.value)
    assert len(str(refused.value)) < 300


async def test_a_file_that_grows_while_it_is_read_does_not_fill_memory(world: World, job: Job) -> None:
    world.engine.listed["models"] = (OutputFile("b.bin", 3, None),)
    world.engine.output["models/b.bin"] = bytes(100)

    with pytest.raises(Misuse, match="more than 50 bytes"):
        await zipped_of(world, job, data=50)


async def test_names_that_lead_elsewhere_are_left_out_and_counted(world: World, job: Job) -> None:
    world.engine.listed["models"] = (
        OutputFile("elsewhere", None, None, link=True),
        OutputFile("\\x1b[2J", None, None, left_out=True),
        *(OutputFile(name, 1, None) for name in ("", "..", "/etc", "a/../../b", "a\\b", "a\nb", "\x1b[2J")),
    )

    archive = await zipped_of(world, job)

    assert (archive.left_out, [*content(archive)]) == (9, ["stdouterr/stdout.txt"])
    with zipfile.ZipFile(io.BytesIO(archive.data)) as opened:
        comment = opened.comment.decode()
    assert comment.startswith("9 entries of the directory are not in this file: ")
    assert "models/elsewhere" in comment
    assert comment.isprintable()


async def test_of_very_many_entries_that_are_left_out_the_first_are_named(world: World, job: Job) -> None:
    links = [OutputFile(f"{number:03}" + "x" * 997, None, None, link=True) for number in range(150)]
    world.engine.listed["models"] = tuple(links)

    archive = await zipped_of(world, job)

    with zipfile.ZipFile(io.BytesIO(archive.data)) as opened:
        assert opened.comment.startswith(b"150 entries of the directory are not in this file: models/000x")
        assert len(opened.comment) < 65_536


async def test_a_file_that_is_gone_when_it_is_read_is_left_out(world: World, job: Job) -> None:
    world.engine.listed["models"] = (OutputFile("gone.txt", 4, None),)

    archive = await zipped_of(world, job)

    assert (archive.left_out, [*content(archive)]) == (1, ["stdouterr/stdout.txt"])


async def test_a_folder_without_files_is_404(world: World, job: Job) -> None:
    with pytest.raises(Misuse, match="there is no file in stdouterr/none yet") as refused:
        await zipped_of(world, job, "none")
    assert refused.value.status == 404


@pytest.mark.parametrize("path", ["..", "/etc", "a/../../b"])
async def test_no_path_leads_out_of_the_directory(world: World, job: Job, path: str) -> None:
    with pytest.raises(Misuse) as refused:
        await zipped_of(world, job, path)
    assert refused.value.status == 400


async def test_names_stay_as_the_job_wrote_them(world: World, job: Job) -> None:
    names = {f"models/{name}": b"x" for name in ("e\u0301.txt", "\u00e9.txt", "README", "readme")}
    world.engine.output = names

    assert [*content(await zipped_of(world, job))] == sorted(f"stdouterr/{name}" for name in names)


async def test_names_that_some_disks_take_for_one_are_all_in_it_and_named(world: World, job: Job) -> None:
    names = ["Case", "case", "STRASSE", "stra\u00dfe", "caf\u00e9", "cafe\u0301"]
    world.engine.output |= {f"alike/{name}": name.encode() for name in names}

    archive = await zipped_of(world, job, "alike")

    assert content(archive) == {f"stdouterr/alike/{name}": name.encode() for name in names}
    with zipfile.ZipFile(io.BytesIO(archive.data)) as opened:
        comment = opened.comment.decode()
    assert comment.startswith("3 names differ from another one in case or in how letters are composed alone")
    assert comment.endswith(": alike/caf\u00e9, alike/case, alike/stra\u00dfe")
