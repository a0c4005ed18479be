"""Every name through every door and back, on one stack, from one job: bytes are compared, not codes alone."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from typer.main import get_command

import function_app  # noqa: F401 - its modules declare the operations
from functions.openapi.elements import OPERATIONS as API
from slipway.main import app
from tests.acceptance.commands.person import slipway
from tests.acceptance.door import Door, shell, unique
from tests.acceptance.names.doors import COMMANDS, DIRECTORIES, OPERATIONS, SLOW, Outlet
from tests.breadth import one_each
from tests.names import REFUSED, TREE, each, kind_of, tree, writes

#: Door, and directory.
WAYS = [(door, one) for door in OPERATIONS | COMMANDS for one in DIRECTORIES.get(door, ("SHARE",))]
#: What a command takes that names no file which a job wrote.
OTHERS = {
    "validate": "documents on this disk",
    "explain": "a document on this disk",
    "submit": "a document on this disk",
    "enqueue": "a message on this disk",
    "init": "a folder on this disk",
    "code": "a folder to compare with, or a new directory: tests/unit/slipway/client/snapshot/test_unpack.py",
    "drop": "a folder to send: tests/acceptance/commands/test_drop.py",
    "backup make": "a file of its own",
    "backup restore": "a backup on this disk",
    "data rm": "names of the container: tests/contract/test_data_rm.py",
    "data put": "files to send: tests/contract/test_data.py",
    "data ls": "files of people: tests/contract/test_data.py",
    "data get": "files of people: tests/contract/test_data.py",
    "metrics": "names of numbers",
    "tensorboard": "jobs, and names with tfevents: tests/unit/slipway/client/mirror/test_mirror.py",
    "teams apply": "a document on this disk",
    "support": "a new file: tests/unit/slipway/commands/support/test_support.py",
}
_NAMING = {"file", "files", "folder", "path", "paths", "patterns", "names", "directory", "to", "receipt"}

WRITES = """import json, os, pathlib, shutil
here = pathlib.Path(__file__).parent
for variable, paths in json.loads((here / "corpus.json").read_text(encoding="utf-8")).items():
    for path in paths:
        file = pathlib.Path(os.environ[variable], path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(path.encode())
sent = pathlib.Path(os.environ["AZ_BATCHAI_OUTPUT_SENT"], "sent")
shutil.copytree(here / "data", sent)
"""
#: A name of each kind, or all.
SOME = one_each(each(), kind_of)
#: What lies beside the script, and is sent with it; hidden files are not.
DATA = tree([name for name in SOME if not name.startswith(".")])
#: What the job writes into each directory.
WRITTEN = {
    "SHARE": TREE,
    "BLOBS": tree(SOME) | {path: TREE[path] for path in TREE if path.startswith("files/")},
    "stdouterr": tree(SOME),
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def home(door: Door, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a folder was run, whose job wrote the corpus into each of its directories."""
    home, name = tmp_path_factory.mktemp("names"), unique("names")
    mount = {"containerName": "datalake", "accountName": door.blobs.account_name, "relativeMountPath": "out"}
    share, blobs = "$AZ_BATCHAI_MOUNT_ROOT/logs/a b&c", "$AZ_BATCHAI_JOB_MOUNT_ROOT/out/a%20b"
    prefixes = {"SHARE": share, "BLOBS": blobs, "SENT": share}
    document = shell(
        f"python3 $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/{name}/write.py",
        mountVolumes={"azureBlobFileSystems": [mount]},
        outputDirectories=[
            {"id": one, "pathPrefix": prefixes[one], "pathSuffix": f"lr=1+2 #{one}"} for one in prefixes
        ],
    )
    folder = home / name
    folder.mkdir()
    (folder / "job.json").write_text(json.dumps(document))
    (folder / "write.py").write_text(WRITES)
    variables = {"stdouterr": "AZ_BATCHAI_STDOUTERR_DIR"}
    corpus = {variables.get(one, f"AZ_BATCHAI_OUTPUT_{one}"): [*WRITTEN[one]] for one in WRITTEN}
    for path, content in DATA.items():
        (folder / "data" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "data" / path).write_bytes(content)
    (folder / "corpus.json").write_text(json.dumps(corpus))

    code, _, err = await slipway(door, home, "run", "--to", "out", name)

    assert code == 0, err
    (job,) = await door.jobs(name=name)
    (home / "job").write_text(job["id"])
    return home


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(("name", "directory"), WAYS)
async def test_a_file_of_any_name_comes_out_with_its_own_bytes(
    door: Door, home: Path, name: str, directory: str
) -> None:
    outlet = Outlet(door, (home / "job").read_text(), directory, home)
    folders = {path: content for path, content in tree(SOME).items() if path.startswith("folders/")}
    expected = folders if name in SLOW else WRITTEN[directory]

    result = await (OPERATIONS | COMMANDS)[name](outlet, list(expected))

    ours = {path: content for path, content in result.items() if "/" in path}
    assert {path for path in expected if ours.get(path) != expected[path]} == set()
    assert {path for path in ours if ours[path] != WRITTEN[directory].get(path)} == set()


@pytest.mark.asyncio(loop_scope="session")
async def test_a_file_of_any_name_beside_the_script_is_what_the_job_sees(door: Door, home: Path) -> None:
    files = (path for path in (home / "out/SENT/sent").rglob("*") if path.is_file())
    assert {path.relative_to(home / "out/SENT/sent").as_posix(): path.read_bytes() for path in files} == DATA


@pytest.mark.asyncio(loop_scope="session")
async def test_a_file_of_any_name_beside_the_script_is_in_the_code_with_its_own_bytes(
    door: Door, home: Path
) -> None:
    outlet = Outlet(door, (home / "job").read_text(), "", home)
    names = [entry["name"] for entry in json.loads(await outlet.get("code"))["entries"]]
    data = [name for name in names if name.startswith("data/") and not name.endswith("/")]

    read = await outlet.each(data, lambda name: outlet.get("code", file=name))

    texts = {name.removeprefix("data/"): json.loads(body)["text"].encode() for name, body in read.items()}
    assert texts == DATA


@pytest.mark.asyncio(loop_scope="session")
async def test_the_receipt_names_the_directories_as_the_job_file_does(door: Door, home: Path) -> None:
    outlet = Outlet(door, (home / "job").read_text(), "SHARE", home)

    receipt = json.loads(await outlet.get("receipt"))
    by_command, _ = await outlet.command("receipt", outlet.job)

    assert json.loads(by_command) == receipt
    paths = {one["id"]: one["path"] for one in receipt["outputs"]}
    assert paths["SHARE"].startswith("$AZ_BATCHAI_MOUNT_ROOT/logs/a b&c/")
    assert paths["BLOBS"].startswith("$AZ_BATCHAI_JOB_MOUNT_ROOT/out/a%20b/")
    assert paths["BLOBS"].endswith("/outputs/lr=1+2 #BLOBS")


@pytest.mark.asyncio(loop_scope="session")
async def test_what_has_no_name_to_ask_for_is_named_with_the_reason_by_every_door(
    door: Door, tmp_path: Path
) -> None:
    """By lists and archives, too, which give the others."""
    files = tree([*each(REFUSED), "plain"])
    document = shell(
        writes(files, "AZ_BATCHAI_OUTPUT_SHARE"),
        outputDirectories=[{"id": "SHARE", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}],
    )
    _, job, _ = await door.call("POST", "jobs", document)
    assert (await door.ended(id=job["id"]))["state"] == "succeeded"
    outlet = Outlet(door, job["id"], "SHARE", tmp_path)

    for folder in ("files", "folders"):
        listed = await outlet.pages("files", "files", folder)
        left_out = [entry for entry in listed if entry.get("leftOut")]
        assert len(left_out) == len(each(REFUSED)) == len(listed) - 1
        archive = zipfile.ZipFile(io.BytesIO(await outlet.get("zip", directory="SHARE", path=folder)))
        assert [archive.read(name) for name in archive.namelist()] == [files[next(
            path for path in files if path.startswith(f"{folder}/plain")
        )]]  # fmt: skip
        assert f"{len(each(REFUSED))} entries" in archive.comment.decode()
    out, _ = await outlet.command("download", job["id"], "SHARE", "--json", code=1)
    failed = json.loads(out)["failed"]
    assert len(failed) == 2 * len(each(REFUSED))
    assert {"reorder text" in one["reason"] for one in failed} == {True}
    for name in (names[0] for names in REFUSED.values()):
        _, err = await outlet.command("cat", job["id"], f"SHARE/files/{name}", code=1)
        assert "character U+" in err or "has a backslash" in err, (name, err)


def test_every_operation_with_a_path_is_a_door() -> None:
    naming = {
        name
        for name, operation in API.items()
        if {"path", "file", "directory"} & {one.name for one in operation.query} or "path}" in operation.route
    }
    # The page's own files; and those of code, below.
    assert naming - {"get_page", "get_code"} == set(OPERATIONS)


def test_every_command_that_takes_names_is_a_door_or_says_what_they_name() -> None:
    naming = {
        name
        for name, command in _commands(get_command(app))
        if _NAMING & {one.name for one in command.params}
    }
    assert naming == {name for name in COMMANDS if "." not in name} | set(OTHERS)


def _commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command
