"""The hook that keeps processes out of the unit tests."""

import os
import subprocess
import sys

import pytest


def test_a_unit_test_that_starts_a_process_fails() -> None:
    with pytest.raises(PermissionError, match="belongs in tests/slow"):
        subprocess.run([sys.executable, "-c", ""], check=False)
    with pytest.raises(PermissionError):
        os.fork()
