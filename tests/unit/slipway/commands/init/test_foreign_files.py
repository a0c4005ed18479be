"""`slipway init --from`: secrets stay where they are, and what cannot be read is named with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shared.jobspec import Source
from slipway.client.request.diagnose import diagnosed
from slipway.client.snapshot.ignore_file import IgnoreFile
from slipway.commands.init.translated import run
from slipway.failure import Failure
from tests.unit.slipway.commands.init.foreign_files import (
    FORMATS,
    SECRET,
    document,
    script,
    translated,
)

_SECRETS = [
    ("SkyPilot", "envs.*", SECRET),
    ("SkyPilot", "secrets.*", SECRET),
    ("SkyPilot", "setup", f"pip login --token {SECRET}"),
    ("SkyPilot", "run", f"HF_TOKEN={SECRET} python train.py"),
    ("SkyPilot", "resources.labels.*", SECRET),
    ("SkyPilot", "resources._docker_login_config", {"password": SECRET}),
    ("SkyPilot", "misspelt", SECRET),
    ("dstack", "env.*", SECRET),
    ("dstack", "env", [f"HF_TOKEN={SECRET}"]),
    ("dstack", "commands", [f"HF_TOKEN={SECRET} python train.py"]),
    ("dstack", "registry_auth", {"username": "me", "password": SECRET}),
    ("dstack", "tags.*", SECRET),
    ("Azure ML", "environment_variables.*", SECRET),
    ("Azure ML", "command", f"HF_TOKEN={SECRET} python train.py"),
    ("Azure ML", "tags.*", SECRET),
    ("Azure ML", "description", SECRET),
    ("Azure ML", "inputs.*", {"path": f"https://it.blob.core.windows.net/data?sv=1&sig={SECRET}"}),
]


@pytest.mark.parametrize(("system", "path", "value"), _SECRETS)
def test_no_secret_is_copied_or_shown(
    system: str, path: str, value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "theirs" / "job.yaml"
    file.parent.mkdir()
    file.write_text(json.dumps(document(system, path, value, "HF_TOKEN"), indent=1))

    run(file, tmp_path / "ours", as_json=False)

    texts = [one.read_text() for one in (tmp_path / "ours").iterdir()]
    captured = capsys.readouterr()
    assert len(texts) >= 2
    assert SECRET not in "".join((*texts, captured.out, captured.err))
    name = path.replace("*", "HF_TOKEN")
    assert any(line.split(": ")[1].startswith((name, "misspelt")) for line in captured.out.splitlines()[1:])


@pytest.mark.parametrize("name", ["job.yaml", "j[ob].yaml", "#job !.yaml"])
@pytest.mark.parametrize(("system", "path", "value"), _SECRETS)
def test_a_file_with_a_secret_beside_the_code_goes_to_no_job(
    system: str, path: str, value: Any, name: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text(json.dumps(document(system, path, value, "HF_TOKEN"), indent=1))

    run(file, None, as_json=False)
    run(file, None, as_json=False)  # a repetition writes the same

    (folder,) = (one.parent for one in tmp_path.rglob("job.json"))
    rules = IgnoreFile.of_folder(folder)
    if file.is_relative_to(folder):
        assert rules.fits(file.relative_to(folder).as_posix())
    assert not rules.fits("train.py")


def test_a_list_of_files_that_jobs_do_not_get_is_not_replaced(tmp_path: Path) -> None:
    file, own = tmp_path / "job.yaml", tmp_path / ".slipwayignore"
    file.write_text(json.dumps(document("SkyPilot", "envs.*", SECRET, "HF_TOKEN")))
    own.write_text("data/\n")

    with pytest.raises(Failure, match="has a secret, and jobs get its folder: name it in"):
        run(file, None, as_json=False)

    own.write_text("*.yaml\n")
    run(file, None, as_json=False)
    assert own.read_text() == "*.yaml\n"


@pytest.mark.parametrize("name", ["a$(id).sh", "a`id`.sh", 'a".sh'])
def test_a_script_whose_name_means_something_to_a_shell_is_to_be_renamed(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text("#!/bin/bash\n#SBATCH --nodes=1\npython train.py\n")

    with pytest.raises(Failure, match="which means something to a shell; rename it"):
        run(file, None, as_json=False)


def test_a_secret_of_an_option_is_not_copied_and_one_of_the_script_is_named(tmp_path: Path) -> None:
    text = script(f"--export=HF_TOKEN={SECRET},LR=1") + f"export API_KEY={SECRET}\n"

    result = translated(tmp_path, text, "train.sh")

    assert [file for file in result.files if SECRET in result.files[file]] == ["train.sh"]
    assert result.options == ("--secret HF_TOKEN",)
    assert [(one.line, one.member) for one in result.notes if one.kind == "secret"] == [
        (1, "script"),
        (2, "--export"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        {"run": "x", "workdir": f"https://me:{SECRET}@example.com/code"},
        {"run": "x", "name": SECRET},
        {"run": "x", SECRET: 1},
        {"run": "x", "num_nodes": SECRET},
        {"run": "x", "resources": {"image_id": f"docker:me:{SECRET}@example.com/it"}},
        {"run": "x", "envs": {f"HF_TOKEN={SECRET}": None}},
        {"type": SECRET, "command": "x"},
        {"command": "x", "environment": {"conda_file": f"https://me:{SECRET}@example.com/conda.yml"}},
        {"command": "x", "inputs": {"key": {"path": f"https://me:{SECRET}@example.com/data"}}},
        {"command": f"x ${{{{secrets.{SECRET}}}}}"},
        script(f"--misspelt={SECRET}"),
        script(f"--misspelt {SECRET}"),
        script(f"--job-name={SECRET}"),
        script(f"--comment={SECRET}"),
        script(f"--account={SECRET}"),
        script(f"--time={SECRET}"),
        script(f"--export={SECRET}"),
    ],
)
def test_no_text_shows_a_secret_wherever_it_stands(
    content: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "theirs" / "job"
    file.parent.mkdir()
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    shown = ""
    try:
        run(file, tmp_path / "ours", as_json=True)
    except Failure as failure:
        shown = str(failure)

    own = "job" if isinstance(content, str) else ""  # a script stays as it is
    texts = [one.read_text() for one in (tmp_path / "ours").glob("*") if one.name != own]
    assert SECRET not in "".join((*texts, *capsys.readouterr(), shown))


@pytest.mark.parametrize("name", ["A; rm -rf ~", "A B", "", "1A", "A$(id)", "A\nB", "é", "--url=x"])
@pytest.mark.parametrize(
    ("system", "member"), [("SkyPilot", "envs"), ("SkyPilot", "secrets"), ("dstack", "env")]
)
def test_a_command_that_a_person_copies_has_no_words_of_the_file(
    system: str, member: str, name: str, tmp_path: Path
) -> None:
    with pytest.raises(Failure, match="is not the name of a variable"):
        translated(tmp_path, {**FORMATS[system].base, member: {name: None}})


@pytest.mark.parametrize("name", ['x"; id; "', "$(id)", "a b", "../x", "x\ny"])
@pytest.mark.parametrize("member", ["inputs", "outputs"])
def test_no_name_of_a_file_is_a_command(member: str, name: str, tmp_path: Path) -> None:
    path = "https://it.blob.core.windows.net/data"
    with pytest.raises(Failure, match="cannot be a job here"):
        translated(tmp_path, {**FORMATS["Azure ML"].base, member: {name: {"path": path}}})


@pytest.mark.parametrize("system", FORMATS)
def test_a_secret_without_a_value_is_asked_for_as_a_secret(system: str, tmp_path: Path) -> None:
    member = "environment_variables" if system == "Azure ML" else "envs" if system == "SkyPilot" else "env"
    content = {**FORMATS[system].base, member: {"HF_TOKEN": None, "EPOCHS": None, "LR": 0.10}}

    result = translated(tmp_path, json.dumps(content).replace("0.1", "0.10"))

    assert result.options == ("--secret HF_TOKEN", "--env EPOCHS")
    # A value is as it is written: nothing is made of it.
    assert json.loads(result.files["job.json"])["properties"]["environmentVariables"] == [
        {"name": "LR", "value": "0.10"}
    ]


def _bomb(levels: int) -> str:
    lines = ["run: x", "a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, levels)]
    return "\n".join(lines)


_HOSTILE: dict[str, tuple[bytes, int]] = {
    "aliases that multiply": (_bomb(9).encode(), 2),
    "an alias of itself": (b"run: x\nenvs: &e {A: *e}\n", 2),
    "an alias of nothing": (b"run: x\nsetup: *there\n", 2),
    "levels": (b"run: x\nenvs: " + b"[" * 50_000, 2),
    "levels of objects": (b"run: x\nenvs: " + b"{a: " * 5_000, 2),
    "values": (b"run: x\nenvs: [" + b"1," * 60_000 + b"]", 2),
    "an object of Python": (b"run: x\nenvs: {A: !!python/object/apply:os.system [ls]}\n", 2),
    "a tag": (b"run: x\nenvs: {A: !it x}\n", 2),
    "binary": (b"run: x\nenvs: {A: !!binary eA==}\n", 2),
    "a name twice": (b"run: x\nsetup: y\nrun: z\n", 3),
    "a list as a name": (b"run: x\n? [a]\n: b\n", 2),
    "a merge of a text": (b"run: x\n<<: y\n", 2),
    "two documents": (b"run: x\n---\nrun: y\n", 2),
    "a tabulator": (b"run: x\nenvs:\n\tA: 1\n", 3),
    "a bracket that is not closed": (b"run: x\nenvs: {A: 1\n", 3),
    "latin-1": ("run: x\nsetup: caf\xe9\n".encode("latin-1"), 2),
    "UTF-16": ("run: x\n".encode("utf-16"), 1),
    "NUL": (b"run: x\nsetup: a\0b\n", 2),
    "a control character": (b"run: x\nsetup: a\x1b[2Jb\n", 2),
    "a number that is none": (b"run: x\nnum_nodes: !!int abc\n", 2),
    "no number of nodes": (b"run: x\nnum_nodes: -1\n", 2),
    "nodes in words": (b"run: x\nnum_nodes: many\n", 2),
    "too many nodes": (b"run: x\nnum_nodes: 99999999999999999999999999\n", 2),
    "a limit beyond all time": (b"command: x\nlimits: {timeout: 99999999999999999999999}\n", 2),
    "an object for a text": (b"run: x\nname: {a: b}\n", 2),
    "a text for an object": (b"run: x\nresources: big\n", 2),
    "a service": (b"name: it\ntype: service\ncommands: [x]\n", 2),
    "a pipeline": (b"$schema: https://azureml/pipelineJob.schema.json\ntype: pipeline\njobs: {}\n", 2),
    "a quote that is not closed": (b"#!/bin/sh\n#SBATCH --comment='a\nls\n", 2),
    "an option without a value": (b"#!/bin/sh\n#SBATCH --time\nls\n", 2),
    "a time that is none": (b"#!/bin/sh\n#SBATCH --time=soon\nls\n", 2),
    "a number of nodes that is none": (b"#!/bin/sh\n#SBATCH -N 0\nls\n", 2),
}


@pytest.mark.parametrize("what", _HOSTILE)
def test_what_cannot_be_read_is_named_with_its_line(what: str, tmp_path: Path) -> None:
    data, line = _HOSTILE[what]
    file = tmp_path / "job"
    file.write_bytes(data)

    with pytest.raises(Failure) as failure:
        run(file, None, as_json=False)

    assert str(failure.value).startswith(f"{file}:{line}: ")
    assert str(failure.value).isprintable()
    assert [one.name for one in tmp_path.iterdir()] == ["job"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("a text", "is not a task"),
        ("[1]", "is not a task"),
        ("name: it", "is not a task"),
        ("resources: {cpus: 1}", "nothing to run"),
        ("x" * 300_000, "bytes"),
        ("run: x\nenvs: {1 2: x}", "1 2 is not the name of a variable"),
        ("run: x\nnum_nodes: 1000000", "cannot be a job here: /properties/nodeCount"),
    ],
)
def test_what_is_no_job_is_refused(content: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(Failure, match=words):
        translated(tmp_path, content)


@pytest.mark.parametrize("folder", ["/etc", "..", "../code", "elsewhere", "link", "~/it", "a\0b"])
def test_a_file_chooses_no_folder_but_its_own_and_those_below(folder: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (tmp_path / "code").mkdir()
    (place / "link").symlink_to(tmp_path / "code")

    result = translated(place, {"run": "x", "workdir": folder.replace("\0", "\x01")})

    assert result.folder == place
    assert any("beside" in note.text for note in result.notes)


@pytest.mark.parametrize("name", ["/etc/passwd", "../packages.yml", "link.yml", "code", "missing.yml"])
def test_a_file_names_no_file_but_those_beside_it(name: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (tmp_path / "packages.yml").write_text("dependencies: []")
    (place / "link.yml").symlink_to(tmp_path / "packages.yml")

    with pytest.raises(Failure, match="names "):
        translated(place, document("Azure ML", "environment.conda_file", name))


def test_the_list_of_packages_beside_it_is_copied(tmp_path: Path) -> None:
    (tmp_path / "conda.yml").write_text("dependencies: [python=3.12]")

    result = translated(tmp_path, document("Azure ML", "environment.conda_file", "conda.yml"))

    assert result.files["environment.yml"] == "dependencies: [python=3.12]"
    assert "slipway_packages" in result.files["job.json"]


@pytest.mark.parametrize("system", FORMATS)
def test_what_is_written_has_no_problem_and_replaces_nothing(system: str, tmp_path: Path) -> None:
    file, folder = tmp_path / "job.yaml", tmp_path / "ours"
    file.write_text(json.dumps(FORMATS[system].base))

    run(file, folder, as_json=False)

    job = folder / "job.json"
    assert [one.severity for one in diagnosed(Source(job.read_bytes()), job) if one.severity == "error"] == []
    run(file, folder, as_json=False)  # the same again changes nothing
    job.write_text("mine")
    with pytest.raises(Failure, match=r"job\.json exists already"):
        run(file, folder, as_json=False)
    assert job.read_text() == "mine"
