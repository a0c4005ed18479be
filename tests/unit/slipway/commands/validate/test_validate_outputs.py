"""`slipway validate`: formats, and `--fix`."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from slipway.commands.validate.validate import run
from tests.unit.script_names import NAMES

BROKEN = """{ // for digits
  "properties": {
    "nodeCuont": "2",
    "customToolkitSettings": {"commandLine": "python $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/train.py"},
    "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/logs",
    "environmentVariables": {"API_KEY": "cAnArY"},
  }
}
"""


def folder_with(tmp_path: Path, text: str, script: bytes | None = b"print(1)\n") -> Path:
    folder = tmp_path / "digits"
    folder.mkdir()
    (folder / "job.json").write_text(text)
    if script is not None:
        (folder / "train.py").write_bytes(script)
    return folder / "job.json"


def test_json_says_for_each_file_what_the_api_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(folder_with(tmp_path, BROKEN))

    assert run([file, str(tmp_path / "none.json")], output="json") == 1

    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert document["valid"] is False
    assert [one["file"] for one in document["files"]] == [file, str(tmp_path / "none.json")]
    assert document["files"][0].keys() == {"file", "valid", "problems", "notes"}
    assert document["files"][1]["trouble"] == "cannot be read: No such file or directory"
    codes = {problem["code"] for problem in document["files"][0]["problems"]}
    assert {"SW003", "SW011", "SW012"} <= codes
    assert all(problem["line"] >= 1 for problem in document["files"][0]["problems"])


def test_sarif_covers_all_files_in_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(folder_with(tmp_path, BROKEN))

    assert run([file, str(tmp_path / "none.json")], output="sarif") == 1

    output = capsys.readouterr()
    (one,) = json.loads(output.out)["runs"]
    assert len(one["artifacts"]) == 2
    assert {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in one["results"]
    } == {f"file://{file}"}
    assert "none.json: error: cannot be read" in output.err


def test_fix_writes_the_certain_fixes_and_shows_them_without_secrets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder_with(tmp_path, BROKEN)

    assert run([str(file)], fix=True) == 0

    out = capsys.readouterr().out
    assert '-    "nodeCuont": "***",\n' in out
    assert '+    "nodeCount": 2,\n' in out
    assert "cAnArY" not in out
    assert out.splitlines()[-1] == f"{file}: 1 hint"
    after = json.loads(file.read_text())["properties"]
    assert after["nodeCount"] == 2
    assert after["environmentVariables"] == [{"name": "API_KEY", "value": "cAnArY"}]
    assert file.read_text().startswith('{ \n  "properties": {\n    "nodeCount": 2,\n')


def test_fix_leaves_a_file_alone_that_needs_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = {"nodeCount": 2, "customToolkitSettings": {"commandLine": "true"}, "stdOutErrPathPrefix": "$HOME"}
    file = folder_with(tmp_path, json.dumps({"properties": good}), None)
    file.chmod(0o444)
    before = file.stat().st_mtime_ns

    assert run([str(file)], fix=True) == 0

    assert file.stat().st_mtime_ns == before
    assert capsys.readouterr().out == f"{file}: valid\n"


def test_standard_input_is_fixed_on_the_screen_only(capsys: pytest.CaptureFixture[str]) -> None:
    run(["-"], io.BytesIO(b'{"properties": {"node_count": 1}}'), fix=True)

    assert '+{"properties": {"nodeCount": 1}}' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("script", "code"), [(None, "SW070"), (b"import os\r\n", "SW071"), (b"import os\n", None)]
)
def test_scripts_beside_the_file_are_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], script: bytes | None, code: str | None
) -> None:
    good = BROKEN.replace(" // for digits", "").replace("nodeCuont", "nodeCount").replace('"2"', "2")
    good = good.replace('    "environmentVariables": {"API_KEY": "cAnArY"},\n', "").replace('logs",', 'logs"')
    file = folder_with(tmp_path, good, script)

    assert run([str(file)], output="json") == 0

    (one,) = json.loads(capsys.readouterr().out)["files"]
    assert [problem["code"] for problem in one["problems"]] == ([code] if code else [])


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_script_is_looked_for_under_just_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    script = tmp_path / "d" / name
    path = f"$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/d/{name}"
    settings = {"nodeCount": 1, "pyTorchSettings": {"pythonScriptFilePath": path}}
    script.parent.mkdir(parents=True)
    file = tmp_path / "d" / "job.json"
    file.write_text(json.dumps({"properties": settings}))

    codes = []
    for _ in range(2):
        run([str(file)], output="json")
        (one,) = json.loads(capsys.readouterr().out)["files"]
        codes.append([problem["code"] for problem in one["problems"]])
        script.touch()

    assert codes == [["SW070"], []]
