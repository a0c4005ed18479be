"""The files of a task by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from fence import Entry, Fence
from fence.way import Refused
from local.azurebatch.api.files import _walk


def test_a_folder_that_cannot_be_listed_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("full", "open"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    entries = Fence.entries

    def refused(fence: Fence, path: str = ".") -> list[Entry]:
        if path == "full":
            raise Refused("the directory has more than 100,000 entries")
        return entries(fence, path)

    monkeypatch.setattr(Fence, "entries", refused)
    with Fence.from_root(tmp_path) as root:
        assert [name for name, _ in _walk(root, "", deep=True)] == ["full", "open", "open/file"]
