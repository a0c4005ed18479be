"""The folder of a stack's data is no one else's to read."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.stack.data_folder import lock_folder


@pytest.fixture(autouse=True)
def _open_to_all() -> Iterator[None]:
    """The widest mask that a person may have."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_a_data_folder_is_its_owners_alone_also_if_an_earlier_version_made_it(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "data"
    for _ in range(2):
        with lock_folder(folder):
            assert folder.stat().st_mode & 0o777 == 0o700
        folder.chmod(0o755)
