"""The files of a task by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from confined import Confined
from confined.entries import Entry
from confined.way import Refused
from local.azurebatch.api.files import _walk


def test_a_folder_that_cannot_be_listed_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("full", "open"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    entries = Confined.entries

    def refused(confined: Confined, path: str = ".") -> list[Entry]:
        if path == "full":
            raise Refused("the directory has more than 100,000 entries")
        return entries(confined, path)

    monkeypatch.setattr(Confined, "entries", refused)
    with Confined.from_root(tmp_path) as root:
        assert [name for name, _ in _walk(root, "", deep=True)] == ["full", "open", "open/file"]
