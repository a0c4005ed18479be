"""`slipway validate`: every problem with its file, place and remedy, and an honest exit code."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from slipway.commands.validate.validate import run
from tests.diagnosis import problems_of

JOB: dict[str, Any] = {
    "properties": {
        "nodeCount": 2,
        "customToolkitSettings": {"commandLine": "python $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/train.py"},
        "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/logs",
    }
}


def written(folder: Path, name: str, document: Any) -> str:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return str(path)


def with_changes(**changes: Any) -> dict[str, Any]:
    return {"properties": JOB["properties"] | changes}


def test_a_good_job_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, "job.json", JOB)

    assert run([file]) == 0

    assert capsys.readouterr().out == f"{file}: valid\n"


def test_each_problem_names_its_file_code_place_and_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps(with_changes(nodeCuont=2, nodeCount="2"))
    file = written(tmp_path, "job.json", text)

    assert run([file]) == 1

    lines = capsys.readouterr().out.splitlines()
    problems = [line for line in lines if re.match(rf"{re.escape(file)}:\d+:\d+: error ", line)]
    assert [line.removeprefix(f"{file}:").split(": ", 2)[:2] for line in problems] == [
        ["1:" + str(text.index('"2"') + 1), "error SW011 properties.nodeCount"],
        ["1:" + str(text.index('"nodeCuont"') + 1), "error SW012 properties.nodeCuont"],
    ]
    assert 'did you mean "nodeCount"' in "\n".join(lines)
    assert sum(line.startswith("    ") for line in lines) == len(problems)
    assert lines[-1] == f"{file}: 2 errors"


def test_text_that_is_not_json_is_a_problem_of_a_place_but_of_no_property(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, "job.json", "{'properties': 1}")

    assert run([file]) == 1

    assert capsys.readouterr().out.startswith(f"{file}:1:2: error SW003: single quotes\n")


def test_one_bad_file_of_several_is_enough_for_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = written(tmp_path, "good.json", JOB)
    absent = str(tmp_path / "missing.json")

    assert run([absent, good]) == 1

    out = capsys.readouterr().out
    assert f"{absent}: error: cannot be read: No such file or directory" in out
    assert f"{good}: valid" in out


def test_warnings_do_not_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, "job.json", with_changes(stdOutErrPathPrefix="$AZ_BATCHAI_MOUNT_ROOT/data"))

    assert run([file]) == 0

    assert capsys.readouterr().out.splitlines()[-1] == f"{file}: 1 warning"


def test_a_dash_reads_standard_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["-"], io.BytesIO(json.dumps(JOB).encode())) == 0

    assert capsys.readouterr().out == "standard input: valid\n"


def test_the_spec_of_a_message_is_checked_in_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps({"name": "a b", "spec": with_changes(nodeCount=0)})
    file = written(tmp_path, "message.json", text)

    assert run([file]) == 1

    out = capsys.readouterr().out
    assert f"{file}:1:10: error SW061 name: " in out
    column = text.index("0,") + 1
    assert f"{file}:1:{column}: error SW013 spec.properties.nodeCount: " in out


def test_a_slipway_json_is_an_envelope_without_a_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, "slipway.json", {"name": "mnist", "spec": JOB})

    assert run([file]) == 1

    assert f"{file}:1:19: error SW060 spec: " in capsys.readouterr().out


def a_template(folder: Path) -> str:
    """A folder with a job.json that names no script of its own; its path."""
    settings = {"pythonScriptFilePath": "<SLIPWAY_SCRIPT>"}
    template = with_changes(customToolkitSettings=None, pyTorchSettings=settings)
    del template["properties"]["customToolkitSettings"]
    folder.mkdir()
    return written(folder, "job.json", template)


def test_a_template_stands_for_the_script_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "digits"
    file = a_template(folder)
    (folder / "learn.py").touch()

    assert run([file]) == 0

    assert capsys.readouterr().out == f"{file}: valid\n"


@pytest.mark.parametrize("cluster", ['"dev"', '{"id": "dev"}'])
def test_which_names_of_clusters_are_configured_is_not_known_here(cluster: str, tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    block = '"customToolkitSettings": {"commandLine": "true"}'
    file.write_text(f'{{"properties": {{"nodeCount": 1, {block}, "cluster": {cluster}}}}}', encoding="utf-8")

    assert problems_of(file.read_bytes(), file) == ()


def test_a_job_message_in_an_event_is_checked_in_its_place(tmp_path: Path) -> None:
    event = b'{"specversion": "1.0", "type": "io.slipway.job.submit.v1", "source": "s", "id": "1",\n'
    problems = problems_of(
        event + b'"data": {"spec": {"properties": {"nodeCuont": 1}}}}', tmp_path / "m.json"
    )

    assert [(one.code, one.pointer) for one in problems] == [
        ("SW020", "/data/spec/properties"),
        ("SW012", "/data/spec/properties/nodeCuont"),
    ]


def test_a_list_is_no_job(tmp_path: Path) -> None:
    assert [one.code for one in problems_of(b'[{"properties": {}}]', tmp_path / "job.json")] == ["SW008"]


def test_a_template_without_a_script_beside_it_misses_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = a_template(tmp_path / "digits")

    assert run([file]) == 0

    assert capsys.readouterr().out == f"{file}: valid\n"


def test_the_default_log_directory_is_no_warning_where_it_is_written_out(tmp_path: Path) -> None:
    model = {"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}
    other = {"id": "OTHER", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs2"}
    job = with_changes(stdOutErrPathPrefix="$AZ_BATCHAI_MOUNT_ROOT/logs", outputDirectories=[model, other])
    file = tmp_path / "job.json"

    problems = problems_of(json.dumps(job).encode(), file)

    assert [(one.code, one.pointer) for one in problems] == [
        ("SW034", "/properties/outputDirectories/1/pathPrefix")
    ]
