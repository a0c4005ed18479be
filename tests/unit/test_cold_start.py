"""Importing the app loads no SDK, and only its own packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    "azure.storage",
    "azure.data",
    "azure.identity",
    "azure.mgmt",
    "azure.core",
    "msrest",
    "aiohttp",
    "cryptography",
    "jwt",
    "opentelemetry",
)


def _import_app(*, path: str = "") -> subprocess.CompletedProcess[str]:
    code = "import sys, function_app; print('\\n'.join(sys.modules))"
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_importing_the_app_loads_no_sdk() -> None:
    ran = _import_app()

    assert ran.returncode == 0, ran.stderr
    modules = ran.stdout.split()
    assert "functions.api" in modules
    assert [name for name in modules if name.startswith(HEAVY)] == []


def test_a_foreign_package_named_shared_is_a_clear_error(tmp_path: Path) -> None:
    # The Functions worker appends the app to sys.path, so whatever is installed under the same name wins.
    foreign = tmp_path / "shared"
    foreign.mkdir()
    (foreign / "__init__.py").touch()
    code = f"import sys; sys.path[:] = [{str(tmp_path)!r}, *sys.path]; import function_app"

    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert ran.returncode != 0
    assert "another package named 'shared'" in ran.stderr
