"""The page says what a job of one team can reach of another: as the table, with which a job is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.engines.registry import ENGINES
from tests.reach import REACH, table

PAGE = Path(__file__).resolve().parents[3] / "docs/explanation/secrets.md"


def test_the_page_has_the_table() -> None:
    assert f"\n\n{table()}\n\n" in PAGE.read_text(encoding="utf-8"), table()


@pytest.mark.parametrize("row", REACH)
def test_the_table_answers_for_every_engine(row: str) -> None:
    assert REACH[row].cells.keys() == ENGINES.keys()
    assert (REACH[row].on_one_machine or frozenset()) <= ENGINES.keys()
