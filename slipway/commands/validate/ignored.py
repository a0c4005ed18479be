"""Warnings and hints to leave out, by options and by `slipway.toml`. Errors are never left out."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from shared.jobspec import Problem
from slipway.failure import USAGE, Failure
from slipway.rules import RULES

FILE = "slipway.toml"
_TABLE, _CODES, _PER_FILE = "validate", "ignore", "per-file-ignores"


@dataclass(frozen=True)
class Ignored:
    """Codes to ignore everywhere, and in some files. Patterns are relative to `folder`."""

    codes: frozenset[str] = frozenset()
    per_file: tuple[tuple[str, frozenset[str]], ...] = ()
    folder: Path = Path()

    def remaining(self, problems: Iterable[Problem], path: Path) -> tuple[Problem, ...]:
        """The remaining problems of a file. Errors stay, because every door refuses them."""
        codes = self.codes.union(*(codes for pattern, codes in self.per_file if self._matches(pattern, path)))
        return tuple(one for one in problems if one.severity == "error" or one.code not in codes)

    def _matches(self, pattern: str, path: Path) -> bool:
        inside = path.is_relative_to(self.folder)
        relative = path.relative_to(self.folder).as_posix() if inside else path.as_posix()
        return fnmatch(relative, pattern) or fnmatch(path.name, pattern)


def ignored(codes: Sequence[str], per_file: Sequence[str], start: Path) -> Ignored:
    """The ignored codes, from options and the nearest slipway.toml above `start`.

    Options are `SW034,SW072` and `old/*:SW034`. Raises Failure.
    """
    path = next((folder / FILE for folder in (start, *start.parents) if (folder / FILE).is_file()), None)
    table = _table(path) if path else {}
    folder, named = (path.parent, str(path)) if path else (start, "")
    everywhere = [*_codes(table.get(_CODES, []), named), *(one for text in codes for one in _split(text))]
    patterns = table.get(_PER_FILE, {})
    if not isinstance(patterns, dict):
        raise Failure(f'{named}: {_PER_FILE} has to be a table: "old/*.json" = ["SW034"]')
    files = [(pattern, frozenset(_codes(listed, named))) for pattern, listed in patterns.items()]
    for text in per_file:
        pattern, colon, listed = text.rpartition(":")
        if not colon:
            raise Failure(f"--{_PER_FILE} {text}: write PATTERN:CODE, for example old/*:SW034", USAGE)
        files.append((pattern, frozenset(_split(listed))))
    return Ignored(frozenset(everywhere), tuple(files), folder)


def _table(file: Path) -> Mapping[str, Any]:
    try:
        whole = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Failure(f"{file}: cannot be read: {error}") from error
    table = whole.get(_TABLE, {})
    unknown = sorted({*whole} - {_TABLE}) + (sorted({*table} - {_CODES, _PER_FILE}) if table else [])
    if not isinstance(table, dict) or unknown:
        names = ", ".join(unknown)
        raise Failure(f"{file}: it may have [{_TABLE}] with {_CODES} and {_PER_FILE}, not {names}")
    return table


def _split(text: str) -> list[str]:
    return _check_codes([code.strip() for code in text.split(",") if code.strip()], "--ignore")


def _codes(listed: Any, where: str) -> list[str]:
    if not isinstance(listed, list) or not all(isinstance(code, str) for code in listed):
        raise Failure(f'{where}: codes have to be a list, ["SW034"]')
    return _check_codes(listed, where)


def _check_codes(codes: list[str], where: str) -> list[str]:
    for code in codes:
        if code not in RULES:
            raise Failure(f"{where}: there is no rule {code}; docs/rules/README.md lists them")
    return codes
