"""What a folder waits for is named with the blob that may be meant; what is in the archive tier, too."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace

import pytest

from shared.core.job import JobState
from shared.core.ports import Blob, BlobPage
from shared.intake.drops.drop import look_at_folder
from shared.intake.drops.inventory import inventory
from shared.intake.drops.needed_scripts import alike
from shared.operate.audit import audit
from tests.doubles.memory import MemoryDrops
from tests.unit.world import World, job_json

ROOT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts"
NFC, NFD = (unicodedata.normalize(form, "entraîner.py") for form in ("NFC", "NFD"))


def job_for(*scripts: str) -> bytes:
    line = "; ".join(f'python "{ROOT}/{script}"' for script in scripts)
    return json.dumps(job_json(customToolkitSettings={"commandLine": line})).encode()


async def waiting(world: World, folder: str = "d") -> str:
    """The note after an inventory, when the upload should be over."""
    world.pass_time(90)
    await inventory(world.ports)
    note = json.loads(world.drops.receipt_files[f"{folder}/waiting.json"])
    assert note["folder"] == f"{folder}/"
    return str(note["message"])


@pytest.mark.parametrize(
    ("name", "other", "difference"),
    [
        ("d/train.py", "d/Train.py", "differs in case"),
        (f"d/{NFC}", f"d/{NFD}", "looks the same, but is written with separate accents (NFD)"),
        (f"d/{NFD}", f"d/{NFC}", "looks the same, but is written with composed letters (NFC)"),
        (f"d/{NFC}", f"d/{NFD.upper()}", "differs in case"),
        (
            "d/fit.py",
            "d/\ufb01t.py",
            "looks alike, but is written with other characters (compatibility forms)",
        ),
        (
            "d/\ufb01t.py",
            "d/fit.py",
            "looks alike, but is written with other characters (compatibility forms)",
        ),
        ("d/fit.py", "d/\ufb01T.py", "differs in case, and in compatibility forms of its characters"),
        (
            "d/x2.py",
            "d/x\u00b2.py",
            "looks alike, but is written with other characters (compatibility forms)",
        ),
        ("d/stra\u00dfe.py", "d/STRASSE.py", "differs in case"),
        ("d/job.json", "d/job.json.txt", 'has ".txt" at its end'),
        ("d/job.json", "d/JOB.JSON.txt", 'has ".txt" at its end'),
        ("d/train.py", "d/train", 'lacks ".py" at its end'),
        ("d/my train.py", "d/my\u00a0train.py", "differs in spaces, or in a dot at an end"),
        ("d/my train.py", "d/my  train.py ", "differs in spaces, or in a dot at an end"),
        ("v1./train.py", "v1/train.py", "differs in spaces, or in a dot at an end"),
    ],
)
def test_a_name_that_may_be_meant_is_named_with_its_difference(
    name: str, other: str, difference: str
) -> None:
    hint = alike(name, ["a", other, "z"])

    assert hint.startswith('; there is "')
    assert hint.endswith(f'", which {difference}')


@pytest.mark.parametrize(
    "other", ["d/train.py", "d/trains.py", "d/train.py/x", "e/train.py", "d/tr.py", "", "d"]
)
def test_other_names_are_not_named(other: str) -> None:
    assert alike("d/train.py", [other]) == ""


@pytest.mark.parametrize(
    ("file", "hint"),
    [
        ("job.json.txt", '; there is "d/job.json.txt", which has ".txt" at its end'),
        ("Job.json", '; there is "d/Job.json", which differs in case'),
        ("data.csv", ""),
    ],
)
async def test_the_note_names_what_may_be_meant_by_a_missing_job_file(
    world: World, file: str, hint: str
) -> None:
    world.drops.upload(f"d/{file}", job_for("d/train.py"))

    expected = "there is no job.json in this folder, and no template above it"
    assert await waiting(world) == expected + hint


async def test_the_note_names_what_may_be_meant_by_a_missing_script(world: World) -> None:
    world.drops.upload("d/job.json", job_for("lib/train.py"))
    world.drops.upload("lib/Train.py", b"")

    hint = '; there is "lib/Train.py", which differs in case'
    assert await waiting(world) == f"waits for lib/train.py, which d/job.json names{hint}"


@pytest.mark.parametrize(
    ("named", "there_is", "difference"),
    [
        ("d/src/train.py", "d/Src/train.py", "differs in case"),
        (
            f"d/{NFC}/train.py",
            f"d/{NFD}/train.py",
            "looks the same, but is written with separate accents (NFD)",
        ),
    ],
    ids=["case", "composition"],
)
async def test_a_folder_of_a_script_may_be_spelt_differently(
    world: World, named: str, there_is: str, difference: str
) -> None:
    world.drops.upload("d/job.json", job_for(named))
    world.drops.upload(there_is, b"")

    hint = f'; there is "{there_is}", which {difference}'
    assert await waiting(world) == f"waits for {named}, which d/job.json names{hint}"


async def test_a_name_that_is_only_possible_counts_when_it_is_there_and_is_not_waited_for(
    world: World,
) -> None:
    line = {"commandLine": f"pytest {ROOT}/d/test_a.py::test_b {ROOT}/d/x.yaml,y.yaml"}
    world.drops.upload("d/job.json", json.dumps(job_json(customToolkitSettings=line)).encode())
    world.drops.upload("d/test_a.py", b"")
    world.pass_time(90)

    assert (await inventory(world.ports)).accepted == 1

    (job,) = world.ledger.jobs
    assert job.drop is not None
    assert set(job.drop.files) == {"d/job.json", "d/test_a.py"}


@pytest.mark.parametrize("named", ["d/a/train.py", "d/a//train.py", "d//a/./train.py"])
@pytest.mark.parametrize(
    ("there_is", "flaw"),
    [
        ("d/a//train.py", "has an empty level, which no file system shows"),
        ("d//a/train.py", "has an empty level, which no file system shows"),
        ("d/a///train.py", "has an empty level, which no file system shows"),
        ("d/a/./train.py", 'has "." as a level, which clients resolve before they ask'),
        ("d/a/b/../train.py", 'has ".." as a level, which clients resolve before they ask'),
        ("d/a\\train.py", "has a backslash, which clients turn into a slash"),
    ],
)
async def test_a_blob_that_no_mount_shows_under_the_name_that_is_meant_is_named_with_its_flaw(
    world: World, named: str, there_is: str, flaw: str
) -> None:
    world.drops.upload("d/job.json", job_for(named))
    world.drops.upload(there_is, b"")
    world.drops.upload("d/a/other.txt", b"")

    expected = (
        f"waits for d/a/train.py, which d/job.json names; there is {json.dumps(there_is)}, which {flaw}"
    )
    assert await waiting(world) == expected.replace("\\\\", "\\")


@pytest.mark.parametrize("named", ["d//train.py", "d/./train.py", "/d/train.py"])
async def test_a_path_with_an_empty_level_runs_the_file_that_a_node_reads_there(
    world: World, named: str
) -> None:
    world.drops.upload("d/job.json", job_for(named))
    world.drops.upload("d/train.py", b"")
    world.pass_time(90)

    assert (await inventory(world.ports)).accepted == 1

    (job,) = world.ledger.jobs
    assert job.drop is not None
    assert set(job.drop.files) == {"d/job.json", "d/train.py"}


@pytest.mark.parametrize("archived", ["d/job.json", "d/train.py", "d/slipway.json"])
async def test_a_file_in_the_archive_tier_gets_a_note_and_a_line_of_the_audit(
    world: World, archived: str
) -> None:
    files = {"d/train.py": b"", "d/slipway.json": b"{}", "d/job.json": job_for("d/train.py")}
    for name, body in files.items():
        world.drops.upload(name, body, archived=name == archived)
    world.drops.upload("other/job.json", json.dumps(job_json()).encode())

    message = await waiting(world)

    assert message.startswith(
        f"cannot run: {archived} is in the archive tier, in which nothing can read it; move"
    )
    assert len(world.engine.started) == 1  # the other folder's
    world.pass_time(600)
    lines = [one for one in (await audit(world.ports)).differences if one.kind == "drop"]
    assert [one.what for one in lines] == ["d/"]
    assert f"{archived} is in the archive tier" in lines[0].message


@pytest.mark.parametrize("kind", ["job.json", "template"])
async def test_a_file_beside_the_script_in_the_archive_tier_is_a_warning_of_the_job(
    world: World, kind: str
) -> None:
    world.drops.upload("d/train.py", b"")
    world.drops.upload("d/cold.csv", b"", archived=True)
    world.drops.upload("d/warm.csv", b"")
    body = (
        job_for("d/train.py")
        if kind == "job.json"
        else job_for().replace(b'""', b'"python <SLIPWAY_SCRIPT>"')
    )
    world.drops.upload("d/job.json" if kind == "job.json" else "job.json", body)
    world.pass_time(90)

    assert (await inventory(world.ports)).accepted == 1

    (job,) = world.ledger.jobs
    assert len(world.engine.started) == 1
    (warning,) = [one for one in job.problems if one["code"] == "SW114"]
    assert warning["severity"] == "warning"
    assert warning["message"] == '"d/cold.csv" is in the archive tier, in which nothing can read it'
    assert "d/cold.csv" in json.dumps(world.receipt(job))


@pytest.mark.parametrize("most", [2, 100])
async def test_files_in_the_archive_tier_in_folders_below_are_named_too(world: World, most: int) -> None:
    """Also on another page of the list; those of a drop below belong to that drop."""
    world.drops.most = most
    for name in ("d/data/a.csv", "d/data/deep/b.csv", "d/other/c.csv", "e/x.csv"):
        world.drops.upload(name, b"", archived=True)
    world.drops.upload("d/.git/objects/1", b"", archived=True)
    world.drops.upload("d/warm/w.csv", b"")
    for folder in ("d/", "d/other/"):
        world.drops.upload(f"{folder}train.py", b"")
        world.drops.upload(f"{folder}job.json", job_for(f"{folder}train.py"))
    world.pass_time(90)

    assert (await inventory(world.ports)).accepted == 2

    warnings = {
        job.drop.folder: [one["message"] for one in job.problems if one["code"] == "SW114"]
        for job in world.ledger.jobs
        if job.drop
    }
    assert warnings == {
        "d": ['"d/data/a.csv", "d/data/deep/b.csv" are in the archive tier, in which nothing can read them'],
        "d/other": ['"d/other/c.csv" is in the archive tier, in which nothing can read it'],
    }


async def test_a_folder_with_very_many_files_below_is_not_listed_to_its_end(world: World) -> None:
    class Endless(MemoryDrops):
        pages = 0

        async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> BlobPage:
            if not deep and prefix != "d/data/":
                return await super().page(prefix, deep=deep, after=after)
            self.pages += 1
            names = (f"d/data/{self.pages}-{number}" for number in range(1000))
            return BlobPage(tuple(Blob(name, "1", before, 0) for name in names), str(self.pages))

    before, drops = world.now, Endless(world.clock)
    world.use(drops=drops)
    drops.upload("d/train.py", b"")
    drops.upload("d/job.json", job_for("d/train.py"))
    drops.upload("d/data/0", b"")
    world.pass_time(90)

    (accepted,) = (await look_at_folder(world.ports, "d/")).accepted

    assert "SW117" in [one["code"] for one in accepted.job.problems]
    assert drops.pages == 6  # five of all folders below, and one of the first folder


async def test_of_many_files_in_the_archive_tier_the_first_are_named(world: World) -> None:
    world.drops.upload("d/train.py", b"")
    world.drops.upload("d/job.json", job_for("d/train.py"))
    for number in range(7):
        world.drops.upload(f"d/{number}.csv", b"", archived=True)
    world.pass_time(90)
    await inventory(world.ports)

    (job,) = world.ledger.jobs
    (warning,) = [one["message"] for one in job.problems if one["code"] == "SW114"]
    assert warning == (
        '"d/0.csv", "d/1.csv", "d/2.csv" and 4 more are in the archive tier, in which nothing can read them'
    )


async def test_a_file_that_comes_back_from_the_archive_runs(world: World) -> None:
    world.drops.upload("d/train.py", b"", archived=True)
    world.drops.upload("d/job.json", job_for("d/train.py"))
    await waiting(world)

    body, blob = world.drops.blobs["d/train.py"]  # Its tier changes, and nothing else.
    world.drops.blobs["d/train.py"] = (body, replace(blob, archived=False))
    world.pass_time(90)

    assert (await inventory(world.ports)).accepted == 1
    assert "d/waiting.json" not in world.drops.receipt_files


async def test_a_document_in_the_archive_tier_is_rejected_with_its_reason(world: World) -> None:
    world.drops.upload("specs/job.json", json.dumps(job_json()).encode(), archived=True)

    job = (await world.message({"specBlob": "scripts/specs/job.json"})).job

    assert job.state is JobState.REJECTED
    assert "is in the archive tier" in job.last_error
