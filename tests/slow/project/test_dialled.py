"""The hook that stops tests from reaching out is in every process that they start."""

from __future__ import annotations

import subprocess
import sys

from tests.unit.project.test_dialled import tried

DIAL = "import socket; socket.create_connection(('169.254.169.254', 80), 1)"


def test_a_process_that_a_test_starts_is_stopped_and_noted() -> None:
    ran = subprocess.run([sys.executable, "-c", DIAL], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "must not dial 169.254.169.254" in ran.stderr
    assert "169.254.169.254" in tried()


def test_the_worker_of_the_local_host_has_it_too() -> None:
    # It is started with -P, which leaves PYTHONPATH in force.
    ran = subprocess.run([sys.executable, "-P", "-c", DIAL], capture_output=True, text=True, check=False)
    assert "must not dial" in ran.stderr
    assert tried()
