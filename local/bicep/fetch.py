"""Gets the types of Azure's resources from Microsoft's npm package `@azure/mcp`, which prints them offline.

The package takes 140 MB and some seconds to start, so its output is kept below `.local/bicep/`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from local.bicep.schema_program import NoTypesError, SchemaProgram
from local.bicep.types import file_name
from local.setup.node import installed_node, packaged_node
from local.setup.steps import ROOT

HOME = ROOT / ".local" / "bicep"
TYPES = HOME / "types"
_PACKAGES = Path(__file__).resolve().parent
_INSTALL_PATIENCE = 300.0


def fetch(kinds: Iterable[str]) -> None:
    """Fetch those resource types' schemas that are not here yet. Raises NoTypesError without the package.

    A type that the package does not have gets an empty file, so it is not requested again.
    """
    unknown = sorted(kind for kind in kinds if not any(path.exists() for path in _files(TYPES, kind)))
    if not unknown:
        return
    program = _program() or _install()
    sys.stdout.write(f"types of {len(unknown)} kinds of resources, once: {', '.join(unknown)}\n")
    sys.stdout.flush()
    keep(program, unknown, TYPES)


def keep(program: Path, kinds: Iterable[str], folder: Path) -> None:
    """Get these schemas from one process, and write them into a folder. Raises NoTypesError."""
    folder.mkdir(parents=True, exist_ok=True)
    with SchemaProgram(program) as running:
        for kind in kinds:
            _keep(_files(folder, kind), kind, running.schema(kind))


class _Files(NamedTuple):
    """The schema of one resource type, or the mark that the package has none."""

    types: Path
    none: Path


def _files(folder: Path, kind: str) -> _Files:
    file = folder / file_name(kind)
    return _Files(file, file.with_suffix(".none"))


def _keep(files: _Files, kind: str, answer: str) -> None:
    if '"BicepSchemaResult"' in answer:
        draft = files.types.with_suffix(".part")
        draft.write_text(answer, "utf-8")
        draft.replace(files.types)
    elif "not supported" in answer:
        files.none.touch()
    else:
        raise NoTypesError(f"the program says nothing of {kind}: {answer.strip()[:200] or 'no answer'}")


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
        raise NoTypesError("npm could not install @azure/mcp") from error
    program = _program()
    if program is None:
        raise NoTypesError("@azure/mcp has no program for this machine")
    return program
