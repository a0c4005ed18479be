"""Tests lie in the folder of their room: who knows where a module is finds its tests."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
#: What is not a room has tests, too; and where a room has many, they lie by what they are about.
OWN = {"documents", "project", "tooling", "examples", "infra", "page", "engines/toy"}


@pytest.mark.parametrize("suite", ["unit", "slow"])
def test_a_folder_of_tests_has_the_name_of_a_room(suite: str) -> None:
    top = ROOT / "tests" / suite
    folders = {path.parent.relative_to(top).as_posix() for path in top.rglob("*.py")} - {"."}
    rooms = {folder for folder in folders if (ROOT / "shared" / folder).is_dir() or (ROOT / folder).is_dir()}

    assert folders - rooms - OWN == set()


def test_a_room_within_a_room_has_its_tests_in_its_own_folder() -> None:
    """A module of such a room is not tested by name from a file that lies beside the room."""
    rooms = (
        *(
            "intake/drops",
            "intake/explanation",
            "intake/reading",
            "lifecycle/clusters",
            "lifecycle/job_sweeps",
        ),
        *("lifecycle/waiting"),
        *("operate/files", "adapters/storage/lists", "core/pacing"),
    )
    astray = {
        path.relative_to(ROOT).as_posix()
        for room in rooms
        for module in (ROOT / "shared" / room).glob("[!_]*.py")
        for path in (ROOT / "tests/unit" / room.partition("/")[0]).rglob(f"test_{module.stem}.py")
        if path.parent != ROOT / "tests/unit" / room
    }

    assert astray == set()


def test_every_room_has_its_tests() -> None:
    rooms = {path.parent.name for path in (ROOT / "shared").glob("*/__init__.py")}
    tests = {
        path.relative_to(ROOT / "tests/unit").parts[0] for path in (ROOT / "tests/unit").rglob("*/test_*.py")
    }

    assert len(rooms) > 9
    assert rooms - tests == set()
