"""Which lists of packages make an environment that later jobs may use, and where one is never looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.engines.node.packages.reuse import key_of, reusable


@pytest.mark.parametrize(
    "line",
    [
        "tiny",
        "tiny[extra] >=1.0,<2; python_version > '3'",
        "--no-index",
        "--index-url https://example.test/simple",
        "-r other.txt",
    ],
)
def test_a_list_of_what_every_job_can_have_has_a_key_which_is_of_its_text(line: str, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("tiny\n")

    key = _key(tmp_path, line)

    assert key is not None
    assert key == _key(tmp_path, line) != _key(tmp_path, f"{line}\ntiny==1.0")


@pytest.mark.parametrize(
    "line",
    [
        "./local",
        "-e ./local",
        "local/",
        "tiny-1.0-py3-none-any.whl",
        "local @ file://${PWD}/local",
        "--no-index --find-links wheels",
        "--index-url file:///wheels",
    ],
)
def test_a_list_that_names_what_one_job_has_does_not_have_a_key(line: str, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text(f"{line}\n")

    assert _key(tmp_path, f"tiny\n{line}") is None
    assert _key(tmp_path, "-r other.txt") is None


@pytest.mark.parametrize("name", ["PIP_CONSTRAINT", "PIP_FIND_LINKS", "PIP_TARGET"])
def test_a_variable_that_names_files_leaves_no_key(name: str, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("tiny\n")

    assert key_of(tmp_path / "requirements.txt", {name: "here"}) is None
    assert key_of(tmp_path / "requirements.txt", {"PIP_PROXY": "here"}) is not None


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_in_a_directory_that_others_can_write_nothing_is_made_or_taken(mode: int, tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text("")
    directory = tmp_path / "kept"
    directory.mkdir()
    directory.chmod(mode)

    assert reusable(directory, file, {}, 0.0) is None
    assert list(directory.iterdir()) == []


def _key(folder: Path, text: str) -> str | None:
    file = folder / "requirements.txt"
    file.write_text(f"{text}\n")
    return key_of(file, {})
