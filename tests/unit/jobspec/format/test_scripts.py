"""Placeholders for dropped scripts, and which scripts a job waits for."""

from __future__ import annotations

from typing import Any

import pytest

from shared.jobspec import Defaults, complete, script_pattern, scripts_possible, scripts_wanted, validate
from tests.unit.jobspec.jobs import BLOBS, SHARE, job

ROOT = "$AZ_BATCHAI_JOB_MOUNT_ROOT"
DROP = Defaults(drop_container="drop", drop_account="dropaccount")


def _command(line: str, **properties: Any) -> dict[str, Any]:
    return job(customToolkitSettings={"commandLine": line}, **properties)


def test_a_template_runs_the_dropped_script() -> None:
    document = _command(
        "cd <SLIPWAY_FOLDER> && python <SLIPWAY_SCRIPT:train*.py> --epochs 3", mountVolumes=None
    )

    completed, notes = complete(document, DROP, script="train2.py", folder="digits/big")

    line = f"cd {ROOT}/scripts/digits/big && python {ROOT}/scripts/digits/big/train2.py --epochs 3"
    assert completed["properties"]["customToolkitSettings"]["commandLine"] == line
    assert notes[-1] == 'placeholders: filled in with "train2.py"'
    assert scripts_wanted(completed) == ("digits/big/train2.py",)


@pytest.mark.parametrize("folder", [None, "", "/"])
def test_a_template_at_the_top_of_the_container_has_no_folder(folder: str | None) -> None:
    document = _command("python <SLIPWAY_SCRIPT>")

    completed, _ = complete(document, DROP, script="a.py", folder=folder)

    assert completed["properties"]["customToolkitSettings"]["commandLine"] == f"python {ROOT}/scripts/a.py"


@pytest.mark.parametrize(
    ("script", "folder"),
    [
        ("a b.py", "x"),
        ("$(rm).py", "x"),
        ("a;b.py", "x"),
        ("a.py", "x y"),
        ("../a.py", "x"),
        ("a.py", ".."),
        ("-a", "x"),
    ],
)
def test_names_that_a_shell_would_read_are_not_filled_in(script: str, folder: str) -> None:
    completed, _ = complete(_command("python <SLIPWAY_SCRIPT>"), DROP, script=script, folder=folder)
    _, problems = validate(completed)

    assert [one.code for one in problems if one.severity == "error"] == ["SW046"]


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("python a.py", None),
        ("python <SLIPWAY_SCRIPT>", "*.py"),
        ("<SLIPWAY_SCRIPT> <SLIPWAY_SCRIPT:*.sh>", "*.py"),
        ("bash <SLIPWAY_SCRIPT:run-*.sh>", "run-*.sh"),
        ("ls <SLIPWAY_FOLDER>", None),
        ("<SLIPWAY_SCRIPT:../*>", None),
        ("<SLIPWAY_SCRIPT:>", None),
    ],
)
def test_a_template_names_the_pattern_of_its_scripts(line: str, pattern: str | None) -> None:
    assert script_pattern(_command(line)) == pattern


def _scripts(line: str, **arguments: Any) -> tuple[str, ...]:
    completed, _ = complete(_command(line, mountVolumes=None), DROP)
    return scripts_wanted(completed, **arguments)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"python {ROOT}/scripts/digits/train.py", ("digits/train.py",)),
        (f"python '{ROOT}/scripts/b.py' && bash \"{ROOT}/scripts/a.sh\"; true", ("a.sh", "b.py")),
        (f"python {ROOT}/scripts/a.py {ROOT}/scripts/a.py", ("a.py",)),
        ("python ${AZ_BATCHAI_JOB_MOUNT_ROOT}/scripts/a.py", ("a.py",)),
        (f"pip install -r {ROOT}/scripts/digits/requirements.txt", ("digits/requirements.txt",)),
        (f"cd {ROOT}/scripts/digits && python train.py", ()),
        (f"ls {ROOT}/scripts/ {ROOT}/scripts {ROOT}/scripts/digits/", ()),
        (f"python {ROOT}/scripts/*.py {ROOT}/scripts/a?.py {ROOT}/scripts/$NAME.py", ()),
        (f"echo done > {ROOT}/scripts/out.txt; echo >>{ROOT}/scripts/out2.txt", ()),
        (f"python {ROOT}/scripts/../a.py", ()),
        (f"python {ROOT}/data/a.py {ROOT}/scripts2/a.py", ()),
        (f"tar xf {ROOT}/scripts/v1.0", ()),
        (f"say {ROOT}/scripts/a.py.", ("a.py",)),
    ],
)
def test_the_scripts_a_job_waits_for_are_found_in_its_command_lines(
    line: str, expected: tuple[str, ...]
) -> None:
    assert _scripts(line) == expected


#: In a command line, what follows the plain beginning belongs to the name only if that is certain.
QUOTING = (
    (f"python '{ROOT}/scripts/my train.py'", (), ()),  # bash leaves the variable as it is
    (f'python "{ROOT}/scripts/my train.py"', ("my train.py",), ()),
    (f"python {ROOT}/scripts/my\\ train.py", ("my train.py",), ()),
    (f'python "{ROOT}"/scripts/"my train.py"', ("my train.py",), ()),
    (f"python {ROOT}/scripts/my train.py", (), ()),
    (f"python {ROOT}/scripts/entraîner.py", ("entraîner.py",), ()),
    (f"python {ROOT}/scripts/a+b.py {ROOT}/scripts/訓練.py", ("a+b.py", "訓練.py"), ()),
    (f'python "{ROOT}/scripts/train (copy).py" --x', ("train (copy).py",), ()),
    (f"bash -c 'python \"{ROOT}/scripts/my train.py\"'", ("my train.py",), ()),
    (f"bash -c \"python '{ROOT}/scripts/my train.py'\"", ("my train.py",), ()),
    (f'bash -c "{ROOT}/scripts/run.sh a.txt"', ("run.sh",), ()),
    (f'ssh host "cd /x && python {ROOT}/scripts/a.py -v"', ("a.py",), ()),
    (f"python --config={ROOT}/scripts/c.yaml", ("c.yaml",), ()),
    (f"X={ROOT}/scripts/a.py:{ROOT}/scripts/b.py,{ROOT}/scripts/c.py", ("a.py", "b.py", "c.py"), ()),
    (f"cat $(find {ROOT}/scripts/a.txt) `ls {ROOT}/scripts/b.txt`", ("a.txt", "b.txt"), ()),
    (f'echo "$(cat {ROOT}/scripts/a.txt)"', ("a.txt",), ()),
    (f"true # {ROOT}/scripts/old.py", (), ()),
    (f'tar cf - x 2>/dev/null > "{ROOT}/scripts/out.tar"', (), ()),
    (f"python {ROOT}/scripts/{{a,b}}.py", (), ()),
    (f"python -m pytest {ROOT}/scripts/test_a.py::test_b", (), ("test_a.py",)),
    (f"run {ROOT}/scripts/a.yaml,b.yaml", (), ("a.yaml", "a.yaml,b.yaml")),
    (f'run "{ROOT}/scripts/a.yaml,b.yaml"', ("a.yaml,b.yaml",), ("a.yaml",)),
    (f"run {ROOT}/scripts//d/./a.py {ROOT}/scripts/.hidden.py", ("d/a.py",), (".hidden.py",)),
    (f'run "{ROOT}/scripts/a\u202eb.py" "{ROOT}/scripts/c\\d.py"', (), ()),
)


@pytest.mark.parametrize(("line", "needed", "possible"), QUOTING)
def test_in_a_command_line_the_quotes_of_the_shell_decide(
    line: str, needed: tuple[str, ...], possible: tuple[str, ...]
) -> None:
    completed, _ = complete(_command(line, mountVolumes=None), DROP)

    assert scripts_wanted(completed) == needed
    assert scripts_possible(completed) == possible


FIELDS = (
    *(
        "my train.py",
        "entraîner.py",
        "entrai\u0302ner.py",
        "tr#ain.py",
        "a+b.py",
        "it's.py",
        "a,b.py",
        "a:b.py",
    ),
    *(
        "train (copy).py",
        "訓練.py",
        "100%.py",
        "a&b;c.py",
        "a[1].py",
        "naïve/x.py",
        "a*b?.py",
        "a..py",
        "-c",
        "v1.",
    ),
)


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("member", ["pythonScriptFilePath", "configFilePath"])
def test_a_field_that_holds_a_path_holds_just_that_path(member: str, name: str) -> None:
    document = job(
        mountVolumes=None, customToolkitSettings=None, caffeSettings={member: f"{ROOT}/scripts/d/{name}"}
    )
    completed, _ = complete(document, DROP)

    assert scripts_wanted(completed) == (f"d/{name}",)
    assert scripts_possible(completed) == ()


@pytest.mark.parametrize(
    ("path", "possible"),
    [("$X/a.py", ("$X/a.py",)), ("../a.py", ()), ("a\\b.py", ()), ("d/", ()), ("a\tb.py", ())],
)
def test_a_field_whose_path_is_unknown_or_impossible_awaits_nothing(
    path: str, possible: tuple[str, ...]
) -> None:
    document = job(
        mountVolumes=None,
        customToolkitSettings=None,
        caffeSettings={"pythonScriptFilePath": f"{ROOT}/scripts/{path}"},
    )
    completed, _ = complete(document, DROP)

    assert scripts_wanted(completed) == ()
    assert scripts_possible(completed) == possible


def test_a_script_path_counts_with_any_suffix_and_so_does_the_preparation() -> None:
    document = job(
        mountVolumes=None,
        customToolkitSettings=None,
        pyTorchSettings={
            "pythonScriptFilePath": f"{ROOT}/scripts/digits/train",
            "commandLineArgs": f"--config {ROOT}/scripts/digits/c.yaml",
        },
        jobPreparation={"commandLine": f"bash {ROOT}/scripts/digits/prepare.sh"},
    )
    completed, _ = complete(document, DROP)

    assert scripts_wanted(completed) == ("digits/c.yaml", "digits/prepare.sh", "digits/train")


def test_no_script_is_awaited_when_scripts_is_another_mount() -> None:
    line = f"python {ROOT}/scripts/a.py"
    times = _command(line, mountVolumes={"azureFileShares": [{**SHARE, "relativeMountPath": "scripts"}]})
    other = _command(line, mountVolumes={"azureBlobFileSystems": [{**BLOBS, "relativeMountPath": "scripts"}]})

    assert scripts_wanted(complete(times, DROP)[0]) == ()
    assert scripts_wanted(other, container="drop") == ()
    assert scripts_wanted(other, container="data") == ("a.py",)
    assert _scripts(line, container="drop") == ("a.py",)
    assert _scripts(f"python {ROOT}/code/a.py") == ()
