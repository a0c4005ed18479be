"""`slipway run`: the message and the code that are sent, and what is left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shared.jobspec import validate
from slipway.client.request.compose import Choices
from slipway.client.request.diagnose import scripts_named
from slipway.client.request.order import Order
from slipway.client.request.request import Options, Request, request_of
from slipway.failure import Failure

PREFIX = "$AZ_BATCHAI_MOUNT_ROOT/logs"
NOTHING = Options(Choices())
SHELL = {"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": "bash run.sh"}}}


def make(folder: Path, *names: str, **documents: Any) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("print(1)")
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    return folder


def files(request: Request) -> list[str]:
    return [file.name for file in request.tree.files]


def properties(request: Request) -> Any:
    return request.message["spec"]["properties"]


def test_a_script_goes_alone_with_a_job_made_for_it(tmp_path: Path) -> None:
    make(tmp_path, "train.py", "secret.txt")

    request = request_of(tmp_path / "train.py", NOTHING, PREFIX)

    assert files(request) == ["train.py"]
    assert (request.name, request.at) == ("train", "")
    assert properties(request)["pyTorchSettings"] == {"pythonScriptFilePath": "train.py"}
    assert not (tmp_path / "job.json").exists()


def test_a_folder_goes_whole_and_its_paths_are_relative(tmp_path: Path) -> None:
    make(tmp_path, "train.py", "lib/model.py", "requirements.txt")
    choices = Choices(environment={"PYTHONPATH": "lib"})

    request = request_of(tmp_path, Options(choices), PREFIX)

    assert files(request) == ["lib/model.py", "requirements.txt", "train.py"]
    assert properties(request)["jobPreparation"] == {"commandLine": 'slipway_packages "./requirements.txt"'}
    assert properties(request)["pyTorchSettings"] == {
        "pythonScriptFilePath": "train.py",
        "pythonInterpreterPath": "$AZ_BATCHAI_JOB_TEMP/environment/python",
    }
    assert properties(request)["environmentVariables"] == [{"name": "PYTHONPATH", "value": "lib"}]
    assert "jobPreparation" not in properties(request_of(tmp_path / "train.py", NOTHING, PREFIX))


@pytest.mark.parametrize("own", ["", "<SLIPWAY_SCRIPT>", "<SLIPWAY_FOLDER>/-c.py", "-c.py", "./-c.py"])
def test_a_script_whose_name_begins_with_a_dash_is_no_option(tmp_path: Path, own: str) -> None:
    make(tmp_path, "-c.py")
    if own:
        settings = {"pythonScriptFilePath": own}
        document = {"properties": {"nodeCount": 1, "pyTorchSettings": settings}}
        (tmp_path / "job.json").write_text(json.dumps(document))

    request = request_of(tmp_path, NOTHING, PREFIX)

    assert properties(request)["pyTorchSettings"]["pythonScriptFilePath"] == "./-c.py"
    problems = validate(request.message["spec"], code_at="work")[1]
    assert not [one for one in problems if one.pointer.endswith("pythonScriptFilePath")]


def test_a_shell_script_finds_the_commands_of_its_packages(tmp_path: Path) -> None:
    make(tmp_path, "train.sh", "requirements.txt")

    line = properties(request_of(tmp_path, NOTHING, PREFIX))["customToolkitSettings"]["commandLine"]

    assert line == '. "$AZ_BATCHAI_JOB_TEMP/environment/activate" && bash "./train.sh"'


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (("requirements.txt", "uv.lock", "environment.yml"), "requirements.txt"),
        (("uv.lock", "pyproject.toml"), "uv.lock"),
        (("pyproject.toml",), ""),
        (("environment.yml",), "environment.yml"),
        (("lib/requirements.txt",), ""),
    ],
)
def test_one_file_of_a_folder_lists_its_packages(
    tmp_path: Path, files: tuple[str, ...], expected: str
) -> None:
    make(tmp_path, "train.py", *files)

    prepared = properties(request_of(tmp_path, NOTHING, PREFIX)).get("jobPreparation")

    assert prepared == ({"commandLine": f'slipway_packages "./{expected}"'} if expected else None)


@pytest.mark.parametrize(
    ("text", "is_listed"),
    [
        ('[project]\nname = "x"\ndependencies = ["numpy"]\n', True),
        ('[project]\nname = "x"\ndependencies = []\n', False),
        ("[tool.ruff]\nline-length = 110\n", False),
        ("project = 1\n", False),
        ("[", False),
    ],
)
def test_a_project_lists_packages_if_it_depends_on_any(tmp_path: Path, text: str, is_listed: bool) -> None:
    make(tmp_path, "train.py")
    (tmp_path / "pyproject.toml").write_text(text)

    assert ("jobPreparation" in properties(request_of(tmp_path, NOTHING, PREFIX))) is is_listed


def test_a_slipway_json_alone_is_said_to_be_of_no_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path, "train.py", slipway={"labels": {"model": "small"}})

    assert "labels" not in request_of(tmp_path, NOTHING, PREFIX).message
    assert "slipway.json is not used: it belongs to a job.json" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["train it.sh", "it's $x.sh", "a&b;c.py", "訓練.py"])
def test_a_script_may_have_any_name(tmp_path: Path, name: str) -> None:
    make(tmp_path, name)

    request = request_of(tmp_path, NOTHING, PREFIX)

    document = json.dumps(request.message)
    assert "SLIPWAY" not in document
    assert files(request) == [name]


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("my project", "my-project"),
        ("Größe (2)", "Groe-2"),
        ("-x- ", "x"),
        ("數據", "job"),
        ("$", "job"),
        ("a.b_c-1", "a-b_c-1"),
        ("x" * 90, "x" * 64),
    ],
)
def test_a_folder_may_have_any_name(tmp_path: Path, folder: str, name: str) -> None:
    make(tmp_path / folder, "train.py")

    assert request_of(tmp_path / folder, NOTHING, PREFIX).name == name
    assert request_of(tmp_path / folder, Options(Choices(), "mine"), PREFIX).name == "mine"


@pytest.mark.parametrize(("path", "script"), [(".", "c.py"), (".", "../a.py"), ("a.py", "a.py")])
def test_a_script_that_the_folder_does_not_have_is_refused(tmp_path: Path, path: str, script: str) -> None:
    make(tmp_path, "project/a.py", "a.py")

    with pytest.raises(Failure, match="--script"):
        request_of(tmp_path / "project" / path, Options(Choices(), script=script), PREFIX)


def test_a_script_that_leaves_files_behind_is_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path, "data.csv", "unused.csv", "model.py", "os.py")
    script = tmp_path / "train.py"
    script.write_text("from model import Net\nopen('data.csv')\n")

    request_of(script, NOTHING, PREFIX)

    shown = capsys.readouterr().err
    assert "it names data.csv, model.py beside it" in shown
    assert f"slipway run --script train.py {tmp_path}" in shown


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="name a script, or a folder with one"):
        request_of(tmp_path / "x", NOTHING, PREFIX)


def test_what_is_saved_runs_as_a_folder_and_as_a_drop(tmp_path: Path) -> None:
    make(tmp_path, "train.py")
    chosen = Options(Choices(cluster="slurm", gpus=2), keep=True)

    first = request_of(tmp_path, chosen, PREFIX)
    second = request_of(tmp_path, NOTHING, PREFIX)

    assert first.message == second.message
    assert (first.message["cluster"], first.message["resources"]) == ("slurm", {"gpus": 2})
    assert scripts_named(tmp_path / "job.json", "team/other") == ("team/other/train.py",)
    with pytest.raises(Failure, match="is there already"):
        request_of(tmp_path, chosen, PREFIX)


def test_a_job_json_beside_a_script_is_never_replaced(tmp_path: Path) -> None:
    make(tmp_path, "train.py", "job.json")

    with pytest.raises(Failure, match="is there already"):
        request_of(tmp_path / "train.py", Options(Choices(), keep=True), PREFIX)

    assert (tmp_path / "job.json").read_text() == "print(1)"


def test_options_join_the_documents_of_a_folder_and_leave_them_alone(tmp_path: Path) -> None:
    envelope = {
        "cluster": "old",
        "labels": {"a": "b"},
        "after": ["data"],
        "resources": {"gpus": 4, "partition": "a"},
    }
    job = {
        "properties": {
            **SHELL["properties"],
            "environmentVariables": [{"name": "A", "value": "1"}, {"name": "B", "value": "1"}],
            "secrets": [{"name": "C", "value": "1"}],
        }
    }
    make(tmp_path, "run.sh", job=job, slipway=envelope)
    before = (tmp_path / "job.json").read_text()
    choices = Choices(3, "img", {"B": "2"}, ("--lr", "1"), "new", 1, Order(["j_1"], ["j_2"]), {"C": "2"})

    request = request_of(tmp_path, Options(choices), PREFIX)

    assert {name: value for name, value in request.message.items() if name != "spec"} == {
        "cluster": "new",
        "labels": {"a": "b"},
        "after": ["data", "j_1"],
        "afterFailure": ["j_2"],
        "resources": {"gpus": 1, "partition": "a"},
    }
    assert properties(request) == {
        "nodeCount": 3,
        "customToolkitSettings": {"commandLine": "bash run.sh --lr 1"},
        "containerSettings": {"imageSourceRegistry": {"image": "img"}},
        "environmentVariables": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "secrets": [{"name": "C", "value": "2"}],
    }
    assert files(request) == ["run.sh"]
    assert (tmp_path / "job.json").read_text() == before


@pytest.mark.parametrize(
    ("line", "at", "expected"),
    [
        ("bash run.sh", "", "bash run.sh"),
        ("bash <SLIPWAY_FOLDER>/run.sh", "", "bash ./run.sh"),
        ("cd <SLIPWAY_FOLDER> && bash run.sh", "", "cd . && bash run.sh"),
        ("bash $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/run.sh", "scripts/digits", None),
        ("bash ${AZ_BATCHAI_JOB_MOUNT_ROOT}/scripts/other/team/run.sh", "scripts/other/team", None),
        (
            "cd <SLIPWAY_FOLDER>; bash $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/run.sh",
            "scripts/digits",
            "cd $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits; "
            "bash $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/run.sh",
        ),
    ],
)
def test_a_document_finds_its_files_where_it_looks_for_them(
    tmp_path: Path, line: str, at: str, expected: str | None
) -> None:
    job = {"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": line}}}
    make(tmp_path / "digits", "run.sh", job=job)

    request = request_of(tmp_path / "digits", NOTHING, PREFIX)

    assert request.at == at
    assert properties(request)["customToolkitSettings"]["commandLine"] == (expected or line)


def test_a_folder_whose_document_runs_it_from_the_drop_container_is_refused(tmp_path: Path) -> None:
    line = "bash $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/run.sh"
    mount = {"accountName": "account", "containerName": "scripts", "relativeMountPath": "scripts"}
    volumes = {"azureBlobFileSystems": [mount]}
    properties = {"customToolkitSettings": {"commandLine": line}, "mountVolumes": volumes}
    job = {"properties": {"nodeCount": 1, **properties}}
    make(tmp_path / "digits", "run.sh", job=job)

    with pytest.raises(Failure, match=r"take the mount out of mountVolumes, .* slipway drop"):
        request_of(tmp_path / "digits", NOTHING, PREFIX)

    properties["customToolkitSettings"] = {"commandLine": "bash run.sh"}
    (tmp_path / "digits" / "job.json").write_text(
        json.dumps(job := {"properties": {"nodeCount": 1, **properties}})
    )
    request = request_of(tmp_path / "digits", NOTHING, PREFIX)
    assert (request.at, request.message["spec"]) == ("", job)


def test_a_template_runs_for_the_script_that_fits(tmp_path: Path) -> None:
    job = {
        "properties": {
            "nodeCount": 1,
            "pyTorchSettings": {"pythonScriptFilePath": "<SLIPWAY_SCRIPT:train*.py>"},
        }
    }
    make(tmp_path, "train_digits.py", "main.py", job=job)

    request = request_of(tmp_path, NOTHING, PREFIX)
    other = request_of(tmp_path, Options(Choices(), script="main.py"), PREFIX)

    assert properties(request)["pyTorchSettings"]["pythonScriptFilePath"] == "train_digits.py"
    assert properties(other)["pyTorchSettings"]["pythonScriptFilePath"] == "main.py"


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("[]", "not a JSON object|has to be an object|object"),
        ('{"specversion": "1.0", "data": {}}', "is an event|cannot run"),
        ("{", "cannot run"),
    ],
)
def test_what_is_not_a_job_is_refused(tmp_path: Path, document: str, words: str) -> None:
    (tmp_path / "job.json").write_text(document)

    with pytest.raises(Failure, match=words):
        request_of(tmp_path, NOTHING, PREFIX)


def test_arguments_that_no_script_takes_are_refused(tmp_path: Path) -> None:
    job = {
        "properties": {
            "nodeCount": 1,
            "tensorFlowSettings": {"pythonScriptFilePath": "a.py", "masterCommandLineArgs": "x"},
        }
    }
    make(tmp_path, "a.py", job=job)

    with pytest.raises(Failure, match="no script or command that takes these arguments"):
        request_of(tmp_path, Options(Choices(arguments=("x",))), PREFIX)


@pytest.mark.parametrize("is_own", [False, True])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--lr {lr} {nope}", ["warning SW077: a command has {nope}, not a parameter of the sweep"]),
        ("--lr 1", ["hint SW077: no command has {lr}"]),
        ("--lr {lr}", []),
    ],
)
def test_what_of_a_sweep_may_be_a_mistake_is_said_before_it_is_sent(
    tmp_path: Path, arguments: str, says: list[str], is_own: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path, "train.py")
    choices = Choices(arguments=() if is_own else arguments.split())
    if is_own:
        settings = {"pythonScriptFilePath": "train.py", "commandLineArgs": arguments}
        document = {"properties": {"nodeCount": 1, "pyTorchSettings": settings}}
        (tmp_path / "job.json").write_text(json.dumps(document))

    request_of(tmp_path, Options(choices, sweep={"lr": [0.1, 0.3]}), PREFIX)

    lines = capsys.readouterr().err.splitlines()
    warnings = [line.removeprefix("slipway: ") for line in lines if "SW077" in line]
    assert [line[: len(text)] for line, text in zip(warnings, says, strict=True)] == says
