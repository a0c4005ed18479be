"""Every kind of row that the source writes is in the table of kinds, from which audit and guide are made."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from shared.core.ledger.kinds import KINDS

ROOT = Path(__file__).resolve().parents[3]
STORAGE = ROOT / "shared" / "adapters" / "storage"
GUIDE = ROOT / "docs" / "how-to" / "fix-problems.md"
#: A key begins with its kind: `n|<id>`.
_KEY = re.compile(r"[a-z]{1,12}\|")


def keys_and_partitions(source: str) -> Iterator[str]:
    """The beginnings of keys and the partitions that a file names."""
    tree = ast.parse(source)
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            key = _KEY.match(node.value)
            yield from [key[0]] if key else []
        if isinstance(node, ast.Dict):
            for name, value in zip(node.keys, node.values, strict=True):
                if isinstance(name, ast.Constant) and name.value == "PartitionKey":
                    yield from _partition(value, constants)


def _partition(value: ast.expr, constants: Mapping[str, object]) -> Iterator[str]:
    match value:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Name(name) if name in constants:
            yield str(constants[name])
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            yield text


def test_every_key_and_partition_of_the_source_is_of_a_kind() -> None:
    files = [file for file in STORAGE.rglob("*.py") if file.parent.name not in ("wire", "checks")]
    written = {text for file in files for text in keys_and_partitions(file.read_text())}
    kinds = {one.key for one in KINDS if "|" in one.key} | {one.partition for one in KINDS}

    assert written - kinds == set(), "add the kind to shared/core/ledger/kinds.py"
    # The events' kinds are letters in the source, and the shards' partition is made of a number.
    assert kinds - written <= {"e|", "o|", "x|", "s"}


def test_the_guide_has_each_kind_with_what_to_do() -> None:
    rows = [
        " | ".join((f"| `{one.partition}/{one.key}`".replace("|`", "\\|`"), one.harm, f"{one.remedy} |"))
        for one in KINDS
    ]
    assert "\n".join(rows) in GUIDE.read_text(), "\n".join(rows)
