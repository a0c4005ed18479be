"""`slipway validate` leaves out what a person does not want to read, but no error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from slipway.commands.validate.ignored import FILE
from slipway.commands.validate.validate import run
from slipway.failure import Failure

JOB: dict[str, Any] = {
    "nodeCount": 1,
    "customToolkitSettings": {"commandLine": "hostname"},
    "containerSettings": {"imageSourceRegistry": {"image": "ubuntu"}},
    "inputDirectories": [{"id": "A", "path": "$AZ_BATCHAI_MOUNT_ROOT/external"}],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("slipway.settings.UP", tmp_path / "no stack")
    return tmp_path


def written(folder: Path, **changes: Any) -> str:
    folder.mkdir(exist_ok=True)
    file = folder / "job.json"
    file.write_text(json.dumps({"properties": JOB | changes}))
    return str(file)


def codes(file: str, capsys: pytest.CaptureFixture[str], **options: Any) -> list[str]:
    run([file], output="json", **options)
    (only,) = json.loads(capsys.readouterr().out)["files"]
    return [one["code"] for one in only["problems"]]


def test_options_leave_out_warnings_and_hints(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = written(folder / "old"), written(folder / "new")

    assert codes(old, capsys) == ["SW034", "SW072"]
    assert codes(old, capsys, ignore=["SW034,SW072"]) == []
    assert codes(old, capsys, ignore=["SW034"], per_file_ignores=["old/*:SW072"]) == []
    assert codes(new, capsys, ignore=["SW034"], per_file_ignores=["old/*:SW072"]) == ["SW072"]
    assert codes(old, capsys, per_file_ignores=["job.json:SW072,SW034"]) == []


def test_a_file_of_settings_says_the_same_from_its_folder_on(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = '[validate]\nignore = ["SW072"]\n[validate.per-file-ignores]\n"old/*.json" = ["SW034"]\n'
    (folder / FILE).write_text(table)
    old, new = written(folder / "old"), written(folder / "new")
    monkeypatch.chdir(folder / "old")

    assert codes(old, capsys) == []
    assert codes(new, capsys) == ["SW034"]


def test_errors_are_never_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(folder, nodeCount=0)

    assert codes(file, capsys, ignore=["SW013,SW034,SW072"]) == ["SW013"]
    assert run([file], ignore=["SW013"]) == 1


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('[validate]\nignore = ["SW999"]', "there is no rule SW999"),
        ('[validate]\nignore = "SW034"', "a list"),
        ('[validate]\nselect = ["SW034"]', "select"),
        ("[check]\n", "check"),
        ('[validate]\nper-file-ignores = ["a"]', "a table"),
        ("ignore = [", "cannot be read"),
    ],
)
def test_a_wrong_file_of_settings_is_reported(folder: Path, table: str, says: str) -> None:
    (folder / FILE).write_text(table)

    with pytest.raises(Failure, match=says):
        run([written(folder)])


@pytest.mark.parametrize("options", [{"ignore": ["SW9"]}, {"per_file_ignores": ["SW034"]}])
def test_wrong_options_are_reported(folder: Path, options: dict[str, Any]) -> None:
    with pytest.raises(Failure, match=r"SW9|PATTERN:CODE"):
        run([written(folder)], **options)


def test_what_can_be_mended_is_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(folder, nodeCount="1", zzz=1)

    run([file])

    assert capsys.readouterr().out.splitlines()[-2:] == [
        f"{file}: --fix corrects 1 of 4",
        f"{file}: 2 errors, 1 warning, 1 hint",
    ]


def test_the_mounts_of_the_cluster_are_known_where_the_settings_are(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = folder / "up"
    stack.mkdir()
    clusters = {"dev": {"engine": "batchai", "mounted": ["external", "logs"]}}
    values = {"SLIPWAY_STORAGE": "UseDevelopmentStorage=true", "SLIPWAY_CLUSTERS": json.dumps(clusters)}
    (stack / "local.settings.json").write_text(json.dumps({"Values": values}))
    monkeypatch.setattr("slipway.settings.UP", stack)
    other = [{"id": "A", "path": "$AZ_BATCHAI_MOUNT_ROOT/other"}]

    assert codes(written(folder), capsys) == ["SW072"]
    assert codes(written(folder, inputDirectories=other), capsys) == ["SW033", "SW072"]
