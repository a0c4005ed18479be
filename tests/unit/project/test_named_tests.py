"""The pages that name tests name tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("page", ["docs/explanation/reliability.md", "docs/reference/what-jobs-rely-on.md"])
def test_each_test_that_a_page_names_is_there(page: str) -> None:
    text = (_ROOT / page).read_text(encoding="utf-8")
    sources = "".join(path.read_text(encoding="utf-8") for path in (_ROOT / "tests").rglob("test_*.py"))
    there = set(re.findall(r"def (test_\w+)\(", sources))

    assert set(re.findall(r"`(test_\w+)`", text)) - there == set()
