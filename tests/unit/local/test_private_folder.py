"""What people store and run on this machine is no one else's to read."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local.batchai.state.store import Store
from local.private_folder import private_folder
from slipway.stack.data_folder import lock_folder


@pytest.fixture(autouse=True)
def _open_to_all() -> Iterator[None]:
    """The widest mask that a person may have."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def hold(folder: Path) -> None:
    with lock_folder(folder):
        pass


def keep(folder: Path) -> None:
    Store(folder).close()


@pytest.mark.parametrize("make", [hold, keep])
def test_a_data_folder_is_its_owners_alone_also_if_an_earlier_version_made_it(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "deep" / "data")
    assert mode(tmp_path / "deep" / "data") == 0o700

    (tmp_path / "deep" / "data").chmod(0o755)
    make(tmp_path / "deep" / "data")
    assert mode(tmp_path / "deep" / "data") == 0o700


def test_a_folder_that_a_person_had_already_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    private_folder(tmp_path, "lock")

    assert mode(tmp_path) == 0o755
