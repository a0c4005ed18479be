"""The import contracts: complete, kept where no linter looks, and broken by what they forbid."""

import ast
import configparser
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("shared", "functions", "local", "cli")
CONTRACTS = configparser.ConfigParser()
CONTRACTS.read_string((ROOT / ".importlinter").read_text())

#: For each contract a line that must not be written, and the file where somebody might write it.
VIOLATIONS = {
    "parts": ("shared/job.py", "import local.process"),
    "layers": ("shared/job.py", "import shared.ports"),
    "use-cases": ("shared/sweep.py", "import shared.memory"),
    "adapters": ("shared/engines/batchai.py", "from shared.sweep import sweep"),
    "wiring": ("functions/sweep.py", "from shared.engines import batchai"),
    "no-sdk": ("shared/accept.py", "from azure.storage.blob.aio import BlobClient"),
    "pure": ("shared/spec/validate.py", "import socket"),
    "local": ("local/batchai/wire.py", "from shared.spec import JobSpec"),
    "local-parts": ("local/host/host.py", "import local.batchai.wire"),
}


def names(contract: str, key: str) -> set[str]:
    """A list of modules in one contract."""
    return set(CONTRACTS[f"importlinter:contract:{contract}"][key].split())


def imports(path: Path) -> Iterator[str]:
    """The full names that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def deployed() -> list[Path]:
    """The files that are deployed to Azure."""
    return [ROOT / "function_app.py", *(ROOT / "functions").rglob("*.py"), *(ROOT / "shared").rglob("*.py")]


def test_every_contract_has_a_violation_that_is_tried() -> None:
    sections = {name.rpartition(":")[2] for name in CONTRACTS.sections() if ":contract:" in name}

    assert sections == set(VIOLATIONS)


@pytest.mark.parametrize("contract", VIOLATIONS)
def test_a_violation_breaks_its_contract(contract: str, tmp_path: Path) -> None:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    file, line = VIOLATIONS[contract]
    with (tmp_path / file).open("a") as module:
        module.write(f"\n{line}\n")

    lint = Path(sys.executable).with_name("lint-imports")
    options = ["--config", str(ROOT / ".importlinter"), "--contract", contract, "--no-cache", "--no-logo"]
    ran = subprocess.run([lint, *options], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "0 kept, 1 broken" in ran.stdout
    assert "is not allowed to import" in ran.stdout


#: What names adapters: the ports are put together there.
COMPOSITION = {"shared.wiring", "shared.configured"}


def test_use_cases_adapters_and_the_rest_are_listed_in_full() -> None:
    layers = CONTRACTS["importlinter:contract:layers"]["layers"]
    modules = {f"shared.{name}" for name in layers.replace(":", " ").split()}
    use_cases, adapters = names("use-cases", "source_modules"), names("adapters", "source_modules")

    assert use_cases.isdisjoint(adapters)
    assert use_cases == names("adapters", "forbidden_modules")
    assert adapters == names("use-cases", "forbidden_modules") == names("wiring", "forbidden_modules")
    assert names("no-sdk", "source_modules") == modules - adapters - COMPOSITION
    assert names("pure", "source_modules") == modules - adapters - use_cases - COMPOSITION - {
        "shared.settings"
    }


def test_only_the_composition_root_reads_the_environment() -> None:
    readers = {
        path.relative_to(ROOT).as_posix()
        for path in deployed()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute | ast.alias)
        and (node.attr if isinstance(node, ast.Attribute) else node.name) in {"environ", "getenv", "environb"}
    }

    # A binding is fixed when the app is indexed, before there is an event; what is sent to the nodes of a
    # cluster runs in their environment.
    assert readers == {"shared/wiring.py", "functions/bindings.py", "shared/engines/node/run.py"}


def test_only_the_triggers_know_the_functions_library() -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for path in deployed()
        if any(f"{name}.".startswith("azure.functions.") for name in imports(path))
    }

    assert {name.partition("/")[0] for name in users} <= {"function_app.py", "functions"}
