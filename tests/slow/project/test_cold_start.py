"""Importing the app loads no SDK, no model of ours, and only its own packages."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

from shared import jobspec

ROOT = Path(__file__).resolve().parents[3]
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
    "pydantic",
)
#: What registers the triggers, beside their own modules.
LIGHT = [
    "function_app",
    "functions",
    "shared",
    "shared.answers",
    "shared.answers.mark",
    "shared.core",
    "shared.core.caller",
    "shared.core.errors",
    "shared.core.notify",
    "shared.core.notify.schedule_bounds",
    "shared.jobspec",
    "shared.jobspec.format",
    "shared.jobspec.format.limits",
    "shared.setting_table",
    "shared.setting_table.rows",
]


def _import(name: str = "function_app", *, path: str = "") -> subprocess.CompletedProcess[str]:
    code = f"import sys, {name}; print('\\n'.join(sys.modules))"
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_importing_the_app_loads_no_sdk() -> None:
    ran = _import()

    assert ran.returncode == 0, ran.stderr
    modules = ran.stdout.split()
    assert "functions.api" in modules
    assert [name for name in modules if name.startswith(HEAVY)] == []


def test_importing_the_app_loads_what_registers_its_triggers_and_nothing_else() -> None:
    # The loader of the Functions worker has pathlib long before it has an app.
    library = set(_import("pathlib, azure.functions").stdout.split())

    more = set(_import().stdout.split()) - library

    assert len(library) > 100
    assert sorted(name for name in more if not name.startswith("functions.")) == LIGHT
    page = (ROOT / "docs" / "explanation" / "performance.md").read_text(encoding="utf-8")
    (number,) = re.findall(r"^\| modules that importing the app loads .*? \| (\d+) \|", page, re.M)
    assert len(more) <= int(number)


def test_every_name_of_the_format_is_loaded_from_the_module_that_type_checkers_see() -> None:
    tree = ast.parse((ROOT / "shared" / "jobspec" / "__init__.py").read_text(encoding="utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in checked.body if isinstance(node, ast.ImportFrom)]
    by_name = {alias.name: node.module for node in imports for alias in node.names}

    assert {name: f"shared.jobspec.{module}" for name, module in jobspec._MODULES.items()} == by_name
    assert {*by_name} == {*jobspec.__all__}
    assert all(getattr(jobspec, name) is not None for name in by_name)


def test_a_foreign_package_named_shared_is_a_clear_error(tmp_path: Path) -> None:
    # The Functions worker appends the app to sys.path, so an installed package of the same name wins.
    foreign = tmp_path / "shared"
    foreign.mkdir()
    (foreign / "__init__.py").touch()
    code = f"import sys; sys.path[:] = [{str(tmp_path)!r}, *sys.path]; import function_app"

    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert ran.returncode != 0
    assert "another package named 'shared'" in ran.stderr


def test_an_emulator_starts_without_the_storage_sdk() -> None:
    """The SDK takes a quarter of the time to start; the first container or notice that needs it loads it."""
    modules = _import("local.batchai.__main__").stdout.split()

    assert "local.batchai.api.app" in modules
    assert [name for name in modules if name.startswith("azure")] == []
