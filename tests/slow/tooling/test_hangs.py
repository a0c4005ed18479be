"""Tests that never end fail with their stacks, and the tests beside them run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_LIMIT = 3.0
_CONFTEST = """
from tests import limits
from tests.schedule import StackScheduling

def pytest_addoption(parser):
    limits.add_option(parser)

def pytest_configure(config):
    limits.watch(config)

def pytest_xdist_make_scheduler(config, log):
    return StackScheduling(config, log)
"""
_HANGS = """
import asyncio, subprocess, sys, time
import pytest

def test_runs_for_ever():
    while True:
        number = 1

def test_waits_for_a_process():
    subprocess.run([sys.executable, "-c", "import time; time.sleep(3600)"])

async def test_awaits_for_ever():
    await asyncio.Event().wait()

@pytest.fixture
def never():
    time.sleep(3600)

def test_has_a_fixture_that_never_comes(never):
    pass

def test_passes():
    pass
"""
_CATCHES = """
def test_catches_everything():
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass

def test_passes_too():
    pass
"""


def test_a_test_that_hangs_fails_with_its_stacks_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(_CONFTEST)
    (tmp_path / "test_hangs.py").write_text(_HANGS)
    (tmp_path / "test_catches.py").write_text(_CATCHES)
    options = [
        "-W",
        "ignore",
        "-o",
        "asyncio_mode=auto",
        "-p",
        "no:cacheprovider",
        f"--rootdir={tmp_path}",
        str(tmp_path),
    ]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-n2", "--dist=loadscope", f"--limit={_LIMIT:g}", *options, "."],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    lines = ran.stdout.splitlines()
    failed = {line.partition("::")[2].partition(" ")[0] for line in lines if line.startswith("FAILED")}
    assert failed == {
        "test_runs_for_ever",
        "test_waits_for_a_process",
        "test_awaits_for_ever",
        "test_catches_everything",
    }, ran.stdout + ran.stderr
    errors = [line.split()[1] for line in lines if line.startswith("ERROR")]
    assert errors == ["test_hangs.py::test_has_a_fixture_that_never_comes"]
    assert "4 failed, 2 passed, 1 error" in lines[-1]
    assert f"no progress for {_LIMIT:g} s" in ran.stdout
    # Where a task waits, and where a process ended that nothing could interrupt.
    assert "await asyncio.Event().wait()" in ran.stdout
    assert "in test_catches_everything" in ran.stderr
