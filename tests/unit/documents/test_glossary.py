"""The glossary is complete, linked, and kept to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.documents.corpus import PAGES, ROOT, prose_of

GLOSSARY = ROOT / "docs" / "glossary.md"
TEXT = GLOSSARY.read_text(encoding="utf-8")
CHECKED = [page for page in PAGES if page != GLOSSARY]


def _pairs() -> list[tuple[str, str]]:
    """What to write, and each wording that it replaces."""
    table = TEXT.partition("## Which word to use")[2]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", table, re.MULTILINE)[1:]
    return [(good, bad.strip()) for good, wordings in rows for bad in wordings.split(",")]


def test_the_glossary_explains_about_twenty_words_in_at_most_three_sentences_each() -> None:
    rows = re.findall(r'^\| <a id="([\w-]+)"></a>\*\*(.+?)\*\* \| (.+) \|$', TEXT, re.MULTILINE)

    assert 20 <= len(rows) <= 24
    assert [word for _, word, _ in rows] == sorted(word for _, word, _ in rows)
    assert [word for anchor, word, _ in rows if anchor != word.replace(" ", "-")] == []
    assert [word for *_, word, text in rows if len(re.findall(r"\. ", text)) > 2] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/explanation/architecture.md"])
def test_the_pages_that_people_read_first_link_to_the_glossary(name: str) -> None:
    assert "glossary.md" in (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", CHECKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_uses_the_words_of_the_glossary(page: Path) -> None:
    prose = prose_of(page.read_text(encoding="utf-8"))
    matches = [
        f"{page.name}: write {good!r}, not {hit!r}"
        for good, bad in _pairs()
        for hit in re.findall(rf"(?i)\b{re.escape(bad)}s?\b", prose)
    ]
    assert matches == []


def test_the_check_sees_a_wrong_word_in_prose_and_not_in_code() -> None:
    prose = prose_of("A container engine.\n\n```\ncontainer engine\n```\n\n    container engine\n\n`x`")
    assert len(re.findall("container engine", prose)) == 1
    assert len(_pairs()) >= 4
