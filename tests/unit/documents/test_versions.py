"""docs/reference/deployment.md: the table of versions of Azure's interfaces agrees with what is sent."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.documents.corpus import ROOT

PAGE = (ROOT / "docs/reference/deployment.md").read_text(encoding="utf-8")
_DATE = r"20\d\d-\d\d-\d\d(?:\.\d+\.\d+)?(?:-preview)?"
_VERSION = re.compile(_DATE)
#: `'Microsoft.Web/sites@2024-11-01'` of a template, and `api-version=2022-03-01` of a hook.
_IN_TEXTS = re.compile(rf"(?:'Microsoft\.[\w./]+@|[?&]api-version=)({_DATE})")
#: Dates of prices.
_NO_VERSIONS = {"shared/core/cost/price_table.py"}


def documented() -> dict[str, frozenset[str]]:
    """The file → the versions that it sends, by the table."""
    section = PAGE.partition("## Versions of Azure's interfaces")[2].partition("\n## ")[0]
    files: dict[str, set[str]] = {}
    for row in re.findall(r"^\| (.+) \|$", section, re.MULTILINE)[1:]:
        _, versions, senders, *_ = row.split(" | ")
        for file in re.findall(r"`([^`]+)`", senders):
            files.setdefault(file, set()).update(_VERSION.findall(versions))
    return {file: frozenset(versions) for file, versions in files.items()}


def _constants(path: Path) -> Iterator[str]:
    """The texts of a module that are a version, its docstrings left out."""
    source = path.read_text(encoding="utf-8")
    if not _VERSION.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _VERSION.fullmatch(node.value):
            yield node.value


def sources() -> dict[str, frozenset[str]]:
    """The file → the versions that it sends."""
    files = {
        path: frozenset(_IN_TEXTS.findall(path.read_text(encoding="utf-8")))
        for path in (ROOT / "infra").rglob("*")
        if path.suffix in (".bicep", ".sh", ".json")
    }
    files |= {
        path: frozenset(_constants(path))
        for room in ("shared", "slipway")
        for path in (ROOT / room).rglob("*.py")
    }
    names = {str(path.relative_to(ROOT)): versions for path, versions in files.items() if versions}
    return {name: versions for name, versions in names.items() if name not in _NO_VERSIONS}


def test_every_version_that_is_sent_is_in_the_table_with_its_end_and_no_other_is() -> None:
    assert len(sources()) > 15
    assert documented() == sources()


@pytest.mark.parametrize(
    ("kind", "oldest"),
    [("Microsoft.KeyVault/vaults", "2026-02-01"), ("Microsoft.Batch/batchAccounts", "2025-06-01")],
)
def test_no_template_has_a_version_whose_end_is_announced(kind: str, oldest: str) -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "infra").glob("*.bicep")]
    versions = [one for text in texts for one in re.findall(rf"'{kind}[\w/]*@({_DATE})'", text)]

    assert versions
    assert min(versions) >= oldest
