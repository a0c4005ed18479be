"""`slipway explain` and `slipway rerun` without a deployment: answers from settings, failures in one line."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from slipway.commands.explain import explain
from slipway.commands.rerun import rerun
from slipway.failure import Failure

SECRET = "canary-4711"


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPWAY_STORAGE", "UseDevelopmentStorage=true")
    monkeypatch.setenv("SLIPWAY_BATCHAI_URL", "http://127.0.0.1:7080")
    monkeypatch.setenv("SLIPWAY_SEAL_KEY", "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=")


def _job(**properties: Any) -> str:
    script = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/run/train.py"
    own = {"nodeCount": 1, "customToolkitSettings": {"commandLine": f"python {script}"}}
    return json.dumps({"properties": {**own, **properties}})


def _folder(tmp_path: Path, **properties: Any) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "job.json").write_text(_job(**properties), encoding="utf-8")
    (folder / "train.py").write_text("print(1)\n", encoding="utf-8")
    return folder


def _answer(file: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    code = explain.run(file, "", "", None, as_json=True)
    return code, json.loads(capsys.readouterr().out)


def test_a_folder_its_job_file_and_again_have_one_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _folder(tmp_path)
    first, second = _answer(folder, capsys), _answer(folder / "job.json", capsys)
    assert first == second
    assert (first[0], first[1]["verdict"]) == (0, "runs")
    assert first[1]["job"]["id"].startswith("j_")


def test_another_script_is_another_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _folder(tmp_path)
    _, first = _answer(folder, capsys)
    (folder / "train.py").write_text("print(2)\n", encoding="utf-8")
    _, second = _answer(folder, capsys)
    assert first["job"]["id"] != second["job"]["id"]


def test_markdown_is_for_people_and_holds_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _folder(tmp_path, secrets=[{"name": "PASSWORD", "value": SECRET}])
    assert explain.run(folder, "", "", None, as_json=False) == 0
    ran = capsys.readouterr()
    assert ran.out.startswith("# run/run: runs\n")
    assert "## Environment of the script" in ran.out
    assert SECRET not in ran.out + ran.err
    assert "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq" not in ran.out


def test_a_message_is_explained_as_a_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "message.json"
    spec = {"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": "true"}}}
    file.write_text(json.dumps({"name": "mine", "spec": spec, "idempotencyKey": "k"}), encoding="utf-8")
    code, body = _answer(file, capsys)
    assert (code, body["job"]["name"], body["job"]["door"]) == (0, "mine", "http")


def _sweep(tmp_path: Path, command: str, **members: Any) -> Path:
    file = tmp_path / "tune.json"
    spec = {"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": command}}}
    document = {"name": "tune", "sweep": {"lr": [0.1, 0.01], "seed": {"range": [0, 8]}}, "spec": spec}
    file.write_text(json.dumps(document | members), encoding="utf-8")
    return file


def test_a_sweep_is_explained_without_a_deployment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _sweep(tmp_path, "python train.py --lr {lr} --seed {seed}", parallel=4)

    code, body = _answer(file, capsys)

    assert (code, body["verdict"], body["job"]["door"]) == (0, "runs", "http")
    assert body["sweep"] == {"jobs": 16, "parallel": 4, "values": {"lr": 0.1, "seed": 0}, "existing": None}
    command = body["document"]["properties"]["customToolkitSettings"]["commandLine"]
    assert command == "python train.py --lr 0.1 --seed 0"
    assert explain.run(file, "", "", None, as_json=False) == 0
    page = capsys.readouterr().out
    assert page.startswith("# tune/tune-00: runs\n")
    assert "A sweep of 16 jobs, at most 4 at once" in page


def test_a_sweep_that_would_be_rejected_is_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, body = _answer(_sweep(tmp_path, "true", sweep={"lr": []}), capsys)

    assert (code, body["verdict"]) == (1, "rejected")
    assert any(problem["pointer"].startswith("/sweep") for problem in body["problems"])


def test_a_job_that_would_be_rejected_is_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, body = _answer(_folder(tmp_path, nodeCuont=2), capsys)
    assert (code, body["verdict"]) == (1, "rejected")


def test_a_drop_that_would_wait_says_for_what(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    (folder / "train.py").unlink()
    with pytest.raises(Failure, match=r"waits for run/train\.py"):
        explain.run(folder, "", "", None, as_json=False)


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="no such file"):
        explain.run(tmp_path / "nowhere.json", "", "", None, as_json=False)
    with pytest.raises(Failure, match="cannot be read"):
        rerun.run(str(tmp_path / "nowhere.json"), "http://127.0.0.1:1", "", None)


@pytest.mark.parametrize("text", ["{", "{}", '{"id": 7}', '{"id": "x"}'])
def test_what_is_no_receipt_is_not_sent(tmp_path: Path, text: str) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Failure, match="receipt"):
        rerun.run(str(file), "http://127.0.0.1:1", "", None)


def _template(tmp_path: Path, pattern: str = "") -> Path:
    folder = tmp_path / "digits"
    for name in ("big", "small"):
        (folder / name).mkdir(parents=True)
        (folder / name / "train.py").write_text("print(1)\n", encoding="utf-8")
    command = f"python <SLIPWAY_SCRIPT{pattern}>"
    block = {"customToolkitSettings": {"commandLine": command}}
    (folder / "job.json").write_text(_job(**block), encoding="utf-8")
    return folder


def test_every_run_below_a_template_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, bodies = _answer(_template(tmp_path), capsys)

    assert code == 0
    assert [body["document"]["properties"]["customToolkitSettings"]["commandLine"] for body in bodies] == [
        f"python $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/{name}/train.py" for name in ("big", "small")
    ]


def test_a_deployment_is_asked_for_every_run_below_a_template(tmp_path: Path) -> None:
    folder = _template(tmp_path)

    runs = asyncio.run(explain.runs_of(folder))

    assert [request for _, request in runs] == [
        {"folder": "digits/big", "script": "train.py"},
        {"folder": "digits/small", "script": "train.py"},
    ]
    assert {document for document, _ in runs} == {(folder / "job.json").read_bytes()}


def test_a_folder_is_asked_for_as_it_is_though_its_script_may_be_there_already(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    (folder / "train.py").unlink()

    assert [request for _, request in asyncio.run(explain.runs_of(folder))] == [{"folder": "run"}]


def test_a_template_without_runs_and_one_with_too_many_scripts_are_one_line(tmp_path: Path) -> None:
    folder = _template(tmp_path)
    (folder / "big" / "model.py").write_text("", encoding="utf-8")
    with pytest.raises(Failure, match="2 files of the folder match"):
        asyncio.run(explain.runs_of(folder))
    for name in ("big", "small"):
        shutil.rmtree(folder / name)
    with pytest.raises(Failure, match="never itself"):
        asyncio.run(explain.runs_of(folder))
    with pytest.raises(Failure, match="never itself"):
        explain.run(folder, "", "", None, as_json=False)


def test_a_script_beside_its_template_is_named_with_a_place_where_it_runs(tmp_path: Path) -> None:
    folder = _template(tmp_path)
    (folder / "train.py").write_text("", encoding="utf-8")
    assert len(asyncio.run(explain.runs_of(folder))) == 2  # those of the folders below
    for name in ("big", "small"):
        shutil.rmtree(folder / name)

    with pytest.raises(Failure, match=r"digits: train\.py does not run: .* digits/train/train.py"):
        asyncio.run(explain.runs_of(folder))
    with pytest.raises(Failure, match=r"train\.py does not run: .* digits/train/train.py"):
        explain.run(folder, "", "", None, as_json=False)


def test_a_terminal_gets_no_marks_of_markdown_and_nothing_that_moves_its_cursor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    hostile = "python x.py \x9b2J\u202e"
    folder = _folder(tmp_path, customToolkitSettings={"commandLine": hostile})
    explain.run(folder, "", "", None, as_json=False)
    piped = capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    explain.run(folder, "", "", None, as_json=False)
    shown = capsys.readouterr().out

    assert "## Problems" in piped
    assert "Problems" in shown
    assert not [mark for mark in ("## ", "**", "| --- |", "```", "\x9b", "\u202e") if mark in shown]
