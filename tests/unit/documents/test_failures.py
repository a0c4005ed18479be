"""docs/reference/engines.md: each failure of a service in a table names a test, which exists."""

from __future__ import annotations

import re

from tests.unit.documents.corpus import ROOT

PAGE = (ROOT / "docs/reference/engines.md").read_text(encoding="utf-8")


def test_each_failure_of_a_service_names_a_test() -> None:
    parts = re.findall(r"^### Failures of .*?(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    rows = [line for part in parts for line in part.splitlines() if line.startswith("| ")][1:]
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    tests = {name for text in texts for name in re.findall(r"def (test_\w+)", text)}

    assert rows
    assert {row for row in rows if not {*re.findall(r"`(test_\w+)` \|$", row)} & tests} == set()
