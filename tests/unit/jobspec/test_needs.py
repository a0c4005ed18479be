"""`needs` in a slipway.json: which files a pattern means, and which entries can mean none."""

from __future__ import annotations

from typing import Any

import pytest

from shared.jobspec import is_met_by, read_envelope
from shared.jobspec.needs import MAX_NEEDS


@pytest.mark.parametrize(
    ("need", "name", "met"),
    [
        ("weights.bin", "weights.bin", True),
        ("weights.bin", "Weights.bin", False),
        ("weights.bin", "data/weights.bin", False),
        ("data/*.csv", "data/a.csv", True),
        ("data/*.csv", "data/a/b.csv", False),
        ("data/*.csv", "data/.hidden.csv", False),
        ("*/a.csv", "data/a.csv", True),
        ("*/a.csv", ".git/a.csv", False),
        ("part-?.csv", "part-1.csv", True),
        ("part-?.csv", "part-10.csv", False),
        ("part-[0-9].csv", "part-7.csv", True),
        ("a[1].csv", "a[1].csv", True),
        ("*", "a", True),
        ("*.json", "job.json", False),
        ("*/*", "__pycache__/a.pyc", False),
    ],
)
def test_a_pattern_means_files_level_by_level(need: str, name: str, met: bool) -> None:
    assert is_met_by(need, name) is met


@pytest.mark.parametrize(
    ("needs", "place"),
    [
        (["a.csv", ""], "/needs/1"),
        (["/a.csv"], "/needs/0"),
        (["../a.csv"], "/needs/0"),
        (["data//a.csv"], "/needs/0"),
        (["data\\a.csv"], "/needs/0"),
        (["data/"], "/needs/0"),
        (["data/**/a.csv"], "/needs/0"),
        ([".env"], "/needs/0"),
        (["lib/__pycache__/x.pyc"], "/needs/0"),
        (["job.json"], "/needs/0"),
        (["a" * 257], "/needs/0"),
        (["a.csv"] * (MAX_NEEDS + 1), "/needs"),
    ],
)
def test_an_entry_that_can_mean_no_file_is_a_problem(needs: list[str], place: str) -> None:
    envelope, problems = read_envelope({"needs": needs}, drop=True)

    assert envelope is None
    assert [(one.code, one.pointer) for one in problems] == [("SW065", place)]


@pytest.mark.parametrize("needs", [[], ["weights.bin", "data/*.csv"], ["a b.csv"], ["ä.csv"]])
def test_other_entries_are_kept(needs: list[str]) -> None:
    envelope, problems = read_envelope({"needs": needs}, drop=True)

    assert (envelope.needs if envelope else None, problems) == (tuple(needs), ())


@pytest.mark.parametrize("needs", ["a.csv", [1], {"a": 1}])
def test_other_shapes_are_a_problem(needs: Any) -> None:
    assert read_envelope({"needs": needs}, drop=True).envelope is None


def test_a_message_has_no_folder_that_waits() -> None:
    _, problems = read_envelope({"spec": {}, "needs": ["a.csv"]})

    assert [(one.code, one.pointer) for one in problems] == [("SW065", "/needs")]
