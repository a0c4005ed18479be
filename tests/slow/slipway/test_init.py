"""What `slipway init` writes, run as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from slipway.commands.init.init import run


def test_the_template_without_dependencies_trains_and_leaves_its_model(tmp_path: Path) -> None:
    run("python", tmp_path / "it")
    ran = subprocess.run(
        [sys.executable, str(tmp_path / "it/train.py"), "--epochs", "50"],
        env=os.environ | {"AZ_BATCHAI_OUTPUT_MODEL": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(ran.stdout.splitlines()[-1])["slipway"]["loss"] < 0.01
    assert json.loads((tmp_path / "model.json").read_text())["slope"] == pytest.approx(3, abs=0.3)
