"""`slipway init --from`: each member of each format is translated or named; nothing is dropped unsaid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from slipway.commands.init.foreign.sbatch_options import OPTIONS
from tests.unit.slipway.commands.init.foreign_files import (
    FORMATS,
    MEMBERS,
    NAME,
    SAYS_WHICH,
    document,
    option,
    script,
    translated,
)

#: Each object of each format, as the path of a member that it does not have.
_OBJECTS = sorted(
    {
        (system, f"{path.rpartition('.')[0]}.misspelt".lstrip("."))
        for system, path in MEMBERS
        if not path.endswith(".*")  # there a person chooses the names
    }
)


@pytest.mark.parametrize(("system", "path"), MEMBERS)
def test_each_member_is_translated_or_named(system: str, path: str, tmp_path: Path) -> None:
    without = translated(tmp_path, FORMATS[system].base)
    result = translated(tmp_path, document(system, path))

    shown = path.replace("*", NAME)
    names = [note.member for note in result.notes]
    is_named = any(shown == name or name.startswith((f"{shown}[", f"{shown}.")) for name in names)
    is_used = (result.files, result.folder, result.options) != (
        without.files,
        without.folder,
        without.options,
    )
    assert is_named or is_used or path in SAYS_WHICH or path.endswith(".type")
    assert [note for note in result.notes if note.kind == "unknown"] == []
    assert result.system.endswith(system)


@pytest.mark.parametrize(("system", "path"), _OBJECTS)
def test_a_member_that_the_format_does_not_have_is_named_with_its_line(
    system: str, path: str, tmp_path: Path
) -> None:
    content = document(system, path)
    result = translated(tmp_path, content)

    (note,) = [one for one in result.notes if one.kind == "unknown"]
    text = (tmp_path / "job.yaml").read_text().splitlines()
    assert note.member == path.replace("*", NAME)
    assert '"misspelt"' in text[note.line - 1]


@pytest.mark.parametrize("name", OPTIONS)
def test_each_option_of_sbatch_is_translated_or_named(name: str, tmp_path: Path) -> None:
    without, result = (translated(tmp_path, script(*one), "train.sh") for one in ([], [option(name)]))

    is_used = {**result.files, "train.sh": ""} != {**without.files, "train.sh": ""}
    assert is_used or [one.line for one in result.notes if one.member == f"--{name}"] == [2]
    assert [one for one in result.notes if one.kind == "unknown"] == []


@pytest.mark.parametrize(
    "name", [name for name, one in OPTIONS.items() if one.letter and one.value != "possible"]
)
def test_the_letter_of_an_option_is_the_option(name: str, tmp_path: Path) -> None:
    value = option(name).partition("=")[2]
    letter = f"-{OPTIONS[name].letter}"
    forms = [option(name), f"{letter} {value}", f"{letter}{value}", f"--{name} {value}"]

    results = [translated(tmp_path, script(one), "train.sh") for one in forms]

    for one in results[1:]:
        assert {**one.files, "train.sh": ""} == {**results[0].files, "train.sh": ""}
        assert one.notes == results[0].notes


def test_an_option_that_sbatch_does_not_have_is_named_with_its_line(tmp_path: Path) -> None:
    result = translated(tmp_path, script("--nodes=1 --misspelt=3 word -Z", "--gpu=1"), "train.sh")

    unknown = [(one.line, one.member) for one in result.notes if one.kind == "unknown"]
    # A beginning that several options have is none of them.
    assert unknown == [(2, "--misspelt"), (2, "word"), (2, "-Z"), (3, "--gpu")]


def test_every_note_says_what_to_do_and_every_page_of_it_exists(tmp_path: Path) -> None:
    texts = set[str]()
    for system, path in MEMBERS:
        texts |= {note.text for note in translated(tmp_path, document(system, path)).notes}
    for name in OPTIONS:
        texts |= {note.text for note in translated(tmp_path, script(option(name)), "train.sh").notes}

    pages = {page for text in texts for page in re.findall(r"docs/[\w/.-]+\.md", text)}
    root = Path(__file__).resolve().parents[5]
    assert len(texts) > 40
    assert {page for page in pages if not (root / page).is_file()} == set()
