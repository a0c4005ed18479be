"""A link is judged by what it leads to, by each command that sends a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from slipway.client.drops.folder import to_upload
from slipway.client.snapshot.walk import walk
from slipway.commands.data.put import to_put
from slipway.failure import Failure


def run(folder: Path) -> set[str]:
    tree = walk(folder)
    return {file.name for file in tree.files} | tree.links.keys()


def drop(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in to_upload(folder)}


def data_put(folder: Path) -> set[str]:
    return {file.name.removeprefix(f"{folder.name}/") for file in to_put([folder], "")}


class Case(NamedTuple):
    """A path in the folder, and what it is a link to; "" for a file."""

    name: str
    target: str = ""
    goes: bool = False


CASES = {
    "a secret's name": Case("prod.env"),
    "a link to a secret": Case("settings", "prod.env"),
    "a link to a hidden secret": Case("config", ".env"),
    "a link in a folder": Case("deep/er/config", "../../.env"),
    "a link by way of a link": Case("twice", "deep/er/config"),
    "an absolute link": Case("absolute", "/ROOT/prod.env"),
    "a link to a secret elsewhere": Case("elsewhere", "../.env"),
    "a link in a folder to a secret elsewhere": Case("deep/er/key", "../../../.ssh/id_rsa"),
    "a link by way of a secret's name elsewhere": Case("through", "../local.env"),
    "a link to a file of a tool": Case("head", ".git/config"),
    "a link to a folder of tools": Case("modules", "node_modules"),
    "a link to a folder of secrets": Case("keys", "../.ssh"),
    "a link to what .slipwayignore names": Case("large", "data/large.bin"),
    "a link to a file": Case("again.py", "train.py", goes=True),
    "a link to a file elsewhere": Case("shared.csv", "../shared.csv", goes=True),
    "a file": Case("train.py", goes=True),
}
WAYS: tuple[Callable[[Path], set[str]], ...] = (run, drop, data_put)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "digits"
    for name in (".env", ".git/config", "node_modules/a.js", "data/large.bin"):
        file(top / name)
    for name in (".env", ".ssh/id_rsa", "shared.csv", "values"):
        file(tmp_path / name)
    (tmp_path / "local.env").symlink_to("values")
    (top / ".slipwayignore").write_text("data/\n")
    for case in CASES.values():
        place = top / case.name
        if case.target:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(case.target.replace("/ROOT", str(top)))
        else:
            file(place)
    return top


def file(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(path.name)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_each_command_judges_a_link_by_what_it_leads_to(
    folder: Path, case: Case, way: Callable[[Path], set[str]]
) -> None:
    assert (case.name in way(folder)) is case.goes


@pytest.mark.parametrize("way", [drop, data_put], ids=lambda way: way.__name__)
def test_a_link_that_stays_is_said_with_its_reason_and_the_way_back(
    folder: Path, way: Callable[[Path], set[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    way(folder)

    lines = capsys.readouterr().err
    assert "left out: config: it is a link to .env, which is left out\n" in lines
    assert (
        "left out: elsewhere: it is a link to .env, which may be a secret; `!elsewhere` in .slipwayignore "
        "takes it along\n"
    ) in lines
    (folder / ".slipwayignore").write_text("!elsewhere\n!prod.env\n")
    assert {"elsewhere", "prod.env", "settings"} <= way(folder)


def test_a_job_file_that_stays_is_refused_since_an_earlier_one_would_run(folder: Path) -> None:
    (folder / "job.json").symlink_to("prod.env")

    with pytest.raises(Failure, match=r"job\.json says what runs, and is left out; put the file itself"):
        drop(folder)


def test_a_file_that_a_person_names_goes(folder: Path) -> None:
    assert [one.name for one in to_put([folder / "config"], "")] == [".env"]
