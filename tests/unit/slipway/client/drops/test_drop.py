"""`slipway drop`: what goes up, in which order and where to; and what it then waits for."""

import hashlib
import json
import os
import re
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from shared.intake.drops.files_of_run import MOST_BYTES, MOST_FILES
from shared.settings import Settings
from slipway.client.drops.folder import check, target_of, to_upload
from slipway.client.drops.folder_drops import DropsToBe
from slipway.client.drops.outlook import Outlook, outlook
from slipway.client.drops.upload import _md5, _sha256
from slipway.commands.data.put import to_put
from slipway.failure import Failure
from tests.doubles.memory import MemoryDrops

SETTINGS = Settings({"SLIPWAY_STORAGE": "UseDevelopmentStorage=true"})


def filled(folder: Path, *names: str) -> Path:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return folder


def test_scripts_go_first_and_the_job_goes_last(tmp_path: Path) -> None:
    folder = filled(tmp_path, "job.json", "slipway.json", "train.py", "lib/model.py")

    assert [path.relative_to(folder).as_posix() for path in to_upload(folder)] == [
        "lib/model.py",
        "train.py",
        "slipway.json",
        "job.json",
    ]


def test_what_is_hidden_or_compiled_stays_here(tmp_path: Path) -> None:
    folder = filled(tmp_path, "train.py", ".git/config", ".env", "__pycache__/train.pyc")

    assert [path.name for path in to_upload(folder)] == ["train.py"]


def test_a_link_to_a_folder_is_left_out_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = filled(tmp_path / "digits", "train.py")
    filled(tmp_path / "sets", "a.csv")
    for name in ("data", ".cache"):
        (folder / name).symlink_to(tmp_path / "sets")
    (folder / "b.csv").symlink_to(tmp_path / "sets/a.csv")

    assert [path.name for path in to_upload(folder)] == ["b.csv", "train.py"]
    err = capsys.readouterr().err
    assert "data is a link to a folder, whose files are not uploaded" in err
    assert ".cache" not in err

    assert [file.name for file in to_put([folder], "")] == ["digits/b.csv", "digits/train.py"]
    assert "digits/data is a link to a folder, whose files are not sent" in capsys.readouterr().err


def test_no_folder_and_an_empty_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="is not a folder"):
        to_upload(tmp_path / "missing")
    with pytest.raises(Failure, match="holds no files"):
        to_upload(tmp_path)


def test_files_of_another_upload_are_not_run_in_place_of_those_of_this_one(tmp_path: Path) -> None:
    folder = filled(tmp_path / "digits", "train.py")
    job = {"nodeCount": 1, "customToolkitSettings": {"commandLine": "python {}/train.py"}}

    def write(place: str) -> None:
        text = json.dumps({"properties": job}).replace("{}", place)
        (folder / "job.json").write_text(text)

    write("$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits")
    check(folder, "digits")
    with pytest.raises(Failure, match=r"nothing was uploaded: train\.py .* write <SLIPWAY_FOLDER>/train\.py"):
        check(folder, "team/digits")
    write("<SLIPWAY_FOLDER>")
    check(folder, "team/digits")
    write("$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/common")
    check(folder, "team/digits")  # of another folder on purpose


@pytest.mark.parametrize("to", ["../x", "a/../b", "./a", "a//b", "a/.hidden", "/", "a\\b"])
def test_a_folder_that_no_one_looks_into_is_refused(to: str, tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"is not a folder to drop into: .*--to team/digits"):
        target_of(tmp_path, to)


def test_the_folder_keeps_its_name_unless_another_one_is_given(tmp_path: Path) -> None:
    assert target_of(tmp_path, "") == tmp_path.name
    assert target_of(tmp_path, "/team/digits/") == "team/digits"


def dropped(**files: str) -> tuple[MemoryDrops, list[str]]:
    drops = MemoryDrops(lambda: datetime.now(UTC), container="scripts")
    named = {name.replace("__", "/").replace("_", "."): text for name, text in files.items()}
    for name, text in named.items():
        drops.upload(name, text.encode())
    return drops, list(named)


async def test_a_folder_that_can_never_run_says_why() -> None:
    drops, names = dropped(hello__train_py="")

    assert (await outlook(SETTINGS, drops, names)).waits == (
        "hello: there is no job.json in this folder, and no template above it",
    )


async def test_a_template_that_lies_there_already_runs_the_script() -> None:
    template = '{"properties": {"pyTorchSettings": {"pythonScriptFilePath": "<SLIPWAY_SCRIPT>"}}}'
    drops, names = dropped(job_json=template, hello__train_py="")

    assert await outlook(SETTINGS, drops, names[1:]) == Outlook(1)
    assert (await outlook(SETTINGS, drops, names[:1])).waits == (
        ": its job.json is a template, which runs scripts of the folders below, never itself",
    )


async def test_a_template_with_a_script_beside_it_goes_up_and_says_where_the_script_would_run() -> None:
    template = '{"properties": {"pyTorchSettings": {"pythonScriptFilePath": "<SLIPWAY_SCRIPT>"}}}'
    drops, names = dropped(d__job_json=template, d__train_py="")

    foreseen = await outlook(SETTINGS, drops, names)

    assert foreseen.template
    assert foreseen.waits[0].startswith("d: train.py does not run: d/job.json beside it is a template")
    drops.upload("e/train.py", b"")
    assert not (await outlook(SETTINGS, drops, [*names, "e/train.py"])).template


def test_a_job_that_cannot_run_is_refused_with_its_problems(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text('{"properties": {"nodeCuont": 2}}')
    with pytest.raises(Failure, match=r"nothing was uploaded[^$]*did you mean \"nodeCount\""):
        check(tmp_path, tmp_path.name)


@pytest.mark.parametrize(
    "text",
    [
        '{"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": "true"}}}',
        '{"properties": {"nodeCount": 1, "pyTorchSettings": {"pythonScriptFilePath": "<SLIPWAY_SCRIPT>"}}}',
    ],
)
def test_a_job_and_a_template_may_go_up(tmp_path: Path, text: str) -> None:
    check(tmp_path, tmp_path.name)  # a script for the template above it
    (tmp_path / "job.json").write_text(text)
    check(tmp_path, tmp_path.name)


def test_what_earlier_jobs_wrote_stays_here(tmp_path: Path) -> None:
    folder = filled(
        tmp_path, "train.py", "j_1/.slipway-job", "j_1/MODEL/weights.bin", ".slipway-job", "data/a.csv"
    )

    assert [path.name for path in to_upload(folder)] == ["a.csv", "train.py"]


async def test_what_this_machine_knows_of_clusters_is_no_fault_of_theirs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A profile names the storage alone: the clusters are the app's, and no error of it is said here."""
    drops = MemoryDrops(lambda: datetime(2026, 1, 1, tzinfo=UTC))
    drops.upload("digits/train.py", b"")
    drops.upload("digits/job.json", b"{}")

    await outlook(SETTINGS, drops, ["digits/train.py", "digits/job.json"])

    assert caplog.records == []


def test_files_that_are_sent_from_the_disk_have_the_digests_of_those_that_are_read_whole(
    tmp_path: Path,
) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    with (tmp_path / "a").open("rb") as stream:
        stream.read(3)
        for data in (stream, BytesIO(b"0123456789")):
            assert _sha256(data) == hashlib.sha256(b"0123456789").hexdigest()
            assert _md5(data) == hashlib.md5(b"0123456789", usedforsecurity=False).digest()


@pytest.mark.parametrize(
    ("files", "size", "mount", "refused"),
    [
        (MOST_FILES, 1, "", False),
        (MOST_FILES + 1, 1, "", True),
        (1, MOST_BYTES, "", False),
        (1, MOST_BYTES + 1, "", True),
        (MOST_FILES + 1, 1, "scripts", False),
    ],
)
async def test_a_folder_that_is_too_large_for_a_drop_has_the_problem_before_it_is_uploaded(
    files: int, size: int, mount: str, refused: bool
) -> None:
    """The app's own rule, with what to do; a job that mounts the container itself may have any folder."""
    own = {"accountName": "devstoreaccount1", "containerName": "scripts", "relativeMountPath": mount}
    volumes = {"mountVolumes": {"azureBlobFileSystems": [own]}} if mount else {}
    document = {"nodeCount": 1, "customToolkitSettings": {"commandLine": "true"}, **volumes}
    names = {f"d/part-{number}.csv": size for number in range(files)}
    contents = {"d/job.json": json.dumps({"properties": document}).encode(), **dict.fromkeys(names, b"")}
    empty = MemoryDrops(lambda: datetime.now(UTC), container="scripts")

    (plan,) = (await outlook(SETTINGS, DropsToBe(contents, "scripts", empty, names), [*contents])).plans

    (problem,) = plan.problems or (None,)
    assert (problem is not None and problem.code == "SW117") is refused
    if problem:
        assert re.search(
            r"the folder has [\d,]+ files with [\d.]+ MiB, and a drop may have 500 with 64", problem.message
        )
        assert re.search(r"slipway run.*slipway data put.*mount the container", problem.remedy)


SECRETS = ("server.key", "id_rsa", "keys/tls.pem", ".env", ".ssh/id_ed25519")


def test_what_may_be_a_secret_is_not_uploaded_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = filled(tmp_path / "digits", "train.py", ".git/deep/ca.pem", *SECRETS)

    assert [path.name for path in to_upload(folder)] == ["train.py"]
    assert capsys.readouterr().err.strip() == (
        "slipway: left out: .env, id_rsa, keys/tls.pem, server.key (give secrets by slipway "
        "run --secret, or from a Key Vault; `!id_rsa` in .slipwayignore takes it along)"
    )
    (folder / ".slipwayignore").write_text("!id_rsa\n!tls.pem\n*.key\n!*\n.*\n")
    assert [path.name for path in to_upload(folder)] == ["id_rsa", "tls.pem", "train.py"]
    assert "left out: server.key (" in capsys.readouterr().err


def test_data_that_may_be_a_secret_is_not_sent_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = filled(tmp_path / "sets", "a.csv", *SECRETS)

    assert [file.name for file in to_put([folder], "")] == ["sets/a.csv"]
    assert re.search(
        r"left out: \.env, .*server\.key \(.*`!\.env` in \.slipwayignore", capsys.readouterr().err
    )
    (folder / ".slipwayignore").write_text("!.env\n!id_rsa\n!.ssh/\n!server.key\n!*.pem\n!id_ed25519\n")
    assert len(to_put([folder], "")) == 1 + len(SECRETS)
    # A person who names the file means it.
    assert [file.name for file in to_put([folder / "server.key"], "")] == ["server.key"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "files_of", [to_upload, lambda folder: to_put([folder], "")], ids=["drop", "data put"]
)
def test_a_name_that_is_not_utf_8_is_named_with_its_byte(files_of: Any, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print()")
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.csv")).write_text("1")
    except OSError:
        pytest.skip("this file system takes no name that is not UTF-8")

    with pytest.raises(Failure, match=r"bad\\xff\.csv.* the byte 0xFF, which is not UTF-8"):
        files_of(tmp_path)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("b\\c.csv", "has a backslash, which clients turn into a slash"),
        ("a\u2028.csv", "which breaks the line"),
        ("d\u200bata.csv", "which hides or reorders"),
        ("a\nb.csv", "which storage does not allow"),
    ],
    ids=ascii,
)
@pytest.mark.parametrize(
    "files_of", [to_upload, lambda folder: to_put([folder], "")], ids=["drop", "data put"]
)
def test_a_name_that_no_blob_should_have_is_refused_before_anything_is_sent(
    files_of: Any, name: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text("print()")
    (tmp_path / name).write_text("1")

    with pytest.raises(Failure, match=says):
        files_of(tmp_path)
    (tmp_path / ".slipwayignore").write_text("*.csv\n")
    if files_of is to_upload:
        assert files_of(tmp_path)
