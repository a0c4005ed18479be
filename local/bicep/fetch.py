"""The types of Azure's resources, which Microsoft's npm package `@azure/mcp` prints, without a network.

The package takes 140 MB and a call 2 s of processor time, so what was printed is kept below `.local/bicep/`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from local.bicep.types import file_name
from local.setup.node import installed_node, packaged_node
from local.setup.steps import ROOT

HOME = ROOT / ".local" / "bicep"
TYPES = HOME / "types"
_PACKAGES = Path(__file__).resolve().parent
_INSTALL_PATIENCE, _CALL_PATIENCE = 300.0, 120.0
_AT_ONCE = 4


class NoTypesError(Exception):
    """The types cannot be had; the message says why."""


def fetch(kinds: Iterable[str]) -> None:
    """Keep the types of those resource types that have none here. Raises NoTypesError without a package.

    A type that the package lacks gets an empty file: it is not asked for again.
    """
    unknown = sorted(kind for kind in kinds if not any(path.exists() for path in _files(kind)))
    if not unknown:
        return
    program = _program() or _install()
    TYPES.mkdir(parents=True, exist_ok=True)
    sys.stdout.write(f"types of {len(unknown)} kinds of resources, once: {', '.join(unknown)}\n")
    sys.stdout.flush()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda kind: _keep(program, kind), unknown))


class _Files(NamedTuple):
    """The types of one kind, and the mark that the package has none."""

    types: Path
    none: Path


def _files(kind: str) -> _Files:
    file = TYPES / file_name(kind)
    return _Files(file, file.with_suffix(".none"))


def _keep(program: Path, kind: str) -> None:
    file, none = _files(kind)
    command = [str(program), "bicepschema", "get", "--resource-type", kind]
    environment = {**os.environ, "AZURE_MCP_COLLECT_TELEMETRY": "false"}
    try:
        answer = subprocess.run(
            command, env=environment, check=False, capture_output=True, timeout=_CALL_PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoTypesError(f"{program.name} does not run: {error}") from error
    if answer.returncode == 0 and b'"BicepSchemaResult"' in answer.stdout:
        draft = file.with_suffix(".part")
        draft.write_bytes(answer.stdout)
        draft.replace(file)
    elif b"not supported" in answer.stdout + answer.stderr:
        none.touch()
    else:
        words = (answer.stderr or answer.stdout).decode(errors="replace").strip().splitlines()
        raise NoTypesError(f"{program.name} says nothing of {kind}: {(words or ['no answer'])[0][:200]}")


def _program() -> Path | None:
    """The program, if it is installed."""
    programs = (HOME / "node_modules" / "@azure").glob("mcp-*/dist/azmcp*")
    return next((path for path in programs if path.name in ("azmcp", "azmcp.exe")), None)


def _install() -> Path:
    HOME.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(_PACKAGES / name, HOME / name)
    node = installed_node() or packaged_node(Path(sys.prefix))
    command = [*node.npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
    sys.stdout.write("installing the npm package @azure/mcp into .local/bicep, once (140 MB)\n")
    sys.stdout.flush()
    try:
        subprocess.run(
            command,
            cwd=HOME,
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_INSTALL_PATIENCE,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise NoTypesError(f"npm could not install @azure/mcp: {type(error).__name__}") from error
    program = _program()
    if program is None:
        raise NoTypesError("@azure/mcp has no program for this machine")
    return program
