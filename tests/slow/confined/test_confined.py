"""Files opened far below a directory, which a process of its own removes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from confined.removal import remove
from tests.deep import make_deep
from tests.unit.confined.test_confined import read


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """`root`, gone after the test: what pytest removes old directories with recurses until Python 3.13."""
    (result := tmp_path / "root").mkdir()
    yield result
    remove(result)


def test_a_deep_directory_is_opened(root: Path) -> None:
    make_deep(root, "d" * 40, 1500, file="f")

    assert read(root, "/".join(["d" * 40] * 1500) + "/f") == "1500"
