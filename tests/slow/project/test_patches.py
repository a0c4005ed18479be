"""Nothing of ours is patched: where tests still do that stands in a list, which may only shrink."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TESTS = ROOT / "tests"
#: Path and number, one file a line.
LISTED = Path(__file__).with_name("patches.txt")
#: Methods of pytest's monkeypatch, under any name, and functions of unittest.mock.
_METHODS = frozenset({"setattr", "delattr", "setitem", "delitem"})
_MOCKS = frozenset({"MagicMock", "AsyncMock", "Mock", "patch", "create_autospec"})
#: Tests that break the program on purpose, to see that other tests notice.
_MUTANTS = "mutants.py"
#: Packages of ours; what comes from elsewhere may be patched.
OURS = frozenset({"bench", "confined", "function_app", "functions", "local", "shared", "slipway", "tests"})


def origins(tree: ast.AST) -> dict[str, str]:
    """The package that each imported name comes from."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: node.module or "" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {(alias.asname or alias.name).partition(".")[0]: alias.name for alias in node.names}
    return {name: module.partition(".")[0] for name, module in names.items()}


def patches(source: str) -> Iterator[str]:
    """Each place that changes something of ours for the length of a test, or stands in for it without a type.

    What is not imported is taken for ours: a module from a list, a record, a member of the world.
    """
    if not any(word in source for word in (*_METHODS, "mock")):
        return
    tree = ast.parse(source)
    packages = origins(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        first, _, last = name.rpartition(".")
        if last in _METHODS and first and packages.get(first) is None and node.args:
            target = node.args[0]
            of_text = isinstance(target, ast.Constant) and isinstance(target.value, str)
            root = (str(target.value) if of_text else ast.unparse(target)).partition(".")[0]  # type: ignore[attr-defined]
            if (root if of_text else packages.get(root, "tests")) in OURS:
                yield f"{node.lineno}: {ast.unparse(node)}"
        elif packages.get(name.partition(".")[0]) == "unittest" and {*name.split(".")} & _MOCKS:
            yield f"{node.lineno}: {ast.unparse(node)}"


def listed() -> dict[str, int]:
    """How many patches a file may have."""
    lines = [line.split() for line in LISTED.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    return {path: int(number) for number, path in lines}


def test_no_more_of_ours_is_patched_than_the_list_says() -> None:
    tests = [path for path in TESTS.rglob("*.py") if not path.name.endswith(_MUTANTS)]
    files = {path.relative_to(ROOT).as_posix(): [*patches(path.read_text())] for path in tests}
    numbers = {path: len(lines) for path, lines in files.items() if lines}
    before = listed()

    more = {path: files[path] for path, number in numbers.items() if number > before.get(path, 0)}
    assert not more, f"pass it as a parameter, or write a double of its own: {more}"
    assert numbers == before, "some are gone: shorten the list"


@pytest.mark.parametrize(
    ("code", "number"),
    [
        ("from shared.operate import output\nmonkeypatch.setattr(output, 'MOST', 4)", 1),
        ("import shared.x as module\npatch.setattr(module, 'y', 1)", 1),
        ("monkeypatch.setattr('slipway.settings.UP', 1)", 1),
        ("monkeypatch.setattr(world.ledger, 'get', get)", 1),
        ("monkeypatch.setattr(type(world.teams), 'get', get)", 1),
        ("monkeypatch.delattr(module, 'y')", 1),
        (
            "from tests.doubles.memory_engine import MemoryEngine\nmonkeypatch.setattr(MemoryEngine, 'x', y)",
            1,
        ),
        ("from unittest.mock import MagicMock\nledger = MagicMock()", 1),
        ("from unittest import mock\nwith mock.patch.object(ledger, 'get'): pass", 1),
        ("import os\nmonkeypatch.setattr(os, 'open', late)", 0),
        ("monkeypatch.setattr('sys.stdin.isatty', lambda: True)", 0),
        ("import sys\nmonkeypatch.setitem(sys.modules, 'pandas', None)", 0),
        ("monkeypatch.setenv('SLIPWAY_URL', 'x')", 0),
        ("monkeypatch.setitem(os.environ, 'PATH', 'x')\nimport os", 0),
    ],
)
def test_a_patch_of_ours_is_seen_and_one_of_others_is_not(code: str, number: int) -> None:
    assert len([*patches(code)]) == number
