"""What people store and run on this machine is no one else's to read."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.batchai.state.database import Store
from local.private_folder import private_folder


@pytest.fixture(autouse=True)
def _open_to_all() -> Iterator[None]:
    """The widest mask that a person may have."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_the_folder_of_the_emulator_is_its_owners_alone_also_if_an_earlier_version_made_it(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "deep" / "data"
    for _ in range(2):
        Store(folder).close()
        assert mode(folder) == 0o700
        folder.chmod(0o755)


def test_a_folder_that_a_person_had_already_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    private_folder(tmp_path, "lock")

    assert mode(tmp_path) == 0o755
