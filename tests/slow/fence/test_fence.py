"""Files opened far below a directory, which a process of its own removes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.fence.test_fence import read


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """`root`, gone after the test: what pytest removes old directories with recurses until Python 3.13."""
    (result := tmp_path / "root").mkdir()
    yield result
    subprocess.run(["rm", "-rf", result], check=True)


def test_a_deep_directory_is_opened(root: Path) -> None:
    fd = os.open(root, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d" * 40, dir_fd=fd)
        below = os.open("d" * 40, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    with os.fdopen(os.open("f", os.O_WRONLY | os.O_CREAT, dir_fd=fd), "w") as file:
        file.write("deep")
    os.close(fd)

    assert read(root, "/".join(["d" * 40] * 1500) + "/f") == "deep"
