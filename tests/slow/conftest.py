"""A directory of a user who may not do everything: modes of files mean nothing to root."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.engines.node import files

USER = 65_534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory of such a user, who runs the test."""
    folder = Path(tempfile.mkdtemp())
    if root := os.geteuid() == 0:
        os.chown(folder, USER, USER)
        os.seteuid(USER)
    yield folder
    if root:
        os.seteuid(0)
    files.remove(str(folder))
