"""What has the name of a file and is none is said before anything is opened, sent or left out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from slipway.client.drops.folder import to_upload
from slipway.client.request.compose import Choices
from slipway.client.request.request import Options, request_of
from slipway.client.snapshot.walk import walk
from slipway.commands.run.run import run
from slipway.failure import Failure
from slipway.library.aio import AsyncClient

NOTHING = Options(Choices())
#: What each is, and how it is made.
KINDS: dict[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a folder": os.mkdir,
    "a link that leads nowhere": lambda path: path.symlink_to("nowhere"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text("print(1)")
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [".slipwayignore", "job.json", "slipway.json"])
def test_what_is_no_file_is_not_passed_over(folder: Path, name: str, kind: str) -> None:
    if name == "slipway.json":
        settings = {"pythonScriptFilePath": "<SLIPWAY_FOLDER>/train.py"}
        document = {"properties": {"nodeCount": 1, "pyTorchSettings": settings}}
        (folder / "job.json").write_text(json.dumps(document))
    KINDS[kind](folder / name)

    for read in (lambda: request_of(folder, NOTHING, "x"), lambda: to_upload(folder)):
        with pytest.raises(Failure, match=rf"{name} is {kind}"):
            read()


def test_a_link_to_such_a_file_is_one(folder: Path) -> None:
    (folder / "rules").write_text("data/")
    (folder / ".slipwayignore").symlink_to("rules")
    (folder / "data").mkdir()

    assert walk(folder).empty == []


@pytest.mark.parametrize("kind", ["a pipe", "a link that leads nowhere"])
def test_a_script_that_is_no_file_is_refused_before_it_is_opened(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "train.py")

    with pytest.raises(Failure, match="is a pipe; name a script" if kind == "a pipe" else "there is no "):
        run(tmp_path / "train.py", NOTHING, "http://127.0.0.1:9", "")


@pytest.mark.parametrize("to", [".", "../here"])
def test_results_do_not_go_into_the_folder_that_is_sent(
    folder: Path, to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "code").mkdir()
    (folder / "here").symlink_to("code")
    monkeypatch.chdir(folder / "code")

    with pytest.raises(Failure, match="would be sent with its next job; name a folder in it"):
        run(folder / "code", NOTHING, "http://127.0.0.1:9", "", to=Path(to))


@pytest.mark.parametrize("to", ["pkg", "pkg/sub", "link", "../code/pkg"])
def test_results_do_not_go_into_a_folder_whose_files_are_sent(
    folder: Path, to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = folder / "code"
    (code / "pkg" / "sub").mkdir(parents=True)
    (code / "train.py").touch()
    (code / "pkg" / "sub" / "model.py").touch()
    (code / "link").symlink_to("pkg")
    monkeypatch.chdir(code)

    with pytest.raises(Failure, match=r"has files that are sent, .* name a new folder"):
        run(code, NOTHING, "http://127.0.0.1:9", "", to=Path(to))


@pytest.mark.parametrize(
    "to", ["new", "pkg/new", "empty", "results", "results/sub", ".venv", "..", "../other"]
)
def test_results_go_into_a_folder_of_which_nothing_is_sent(
    folder: Path, to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = folder / "code"
    for name in ("pkg", "empty", "results/sub", ".venv", "../other"):
        (code / name).mkdir(parents=True)
    for name in ("train.py", "pkg/model.py", "results/sub/a.txt", ".venv/pyvenv.cfg", "../other/b.py"):
        (code / name).touch()
    (code / "results" / ".slipway-job").write_text("j_a\n")
    monkeypatch.chdir(code)

    with pytest.raises(Failure, match="nothing listens there"):
        run(code, NOTHING, "http://127.0.0.1:9", "", to=Path(to))


async def test_a_folder_with_results_in_it_is_not_sent(folder: Path) -> None:
    (folder / ".slipway-job").write_text("j_a\n")

    with pytest.raises(Failure, match=r"has results of a job \(\.slipway-job\)"):
        request_of(folder, NOTHING, "x")
    with pytest.raises(Failure, match=r"has results of a job \(\.slipway-job\)"):
        await AsyncClient("http://127.0.0.1:9").submit({"spec": {}}, code=folder)
