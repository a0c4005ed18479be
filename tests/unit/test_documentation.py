"""What the documents say is true: links resolve, the diagram is the table, commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shared.job import ARROWS, JobState

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/*.md")]


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_resolves(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{page.name}: {target}"
        if anchor:
            assert anchor in _anchors(file), f"{page.name}: {target}"


def test_every_test_that_a_page_names_is_there() -> None:
    named = {
        (page.name, name)
        for page in PAGES
        for name in re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8"))
    }
    sources = [file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py")]
    there = {name for text in sources for name in re.findall(r"def (test_\w+)\(", text)}

    assert len(named) > 50
    assert {(page, name) for page, name in named if name not in there} == set()


def test_the_state_diagram_is_the_table_of_arrows() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    diagram = text.partition("stateDiagram-v2")[2].partition("```")[0]
    drawn = set(re.findall(r"(\w+) --> (\w+)", diagram))
    # The ends are drawn once, from `running`; the page says so.
    ends = {JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED, JobState.LOST}
    arrows = {
        (state.value, to.value)
        for state, goals in ARROWS.items()
        for to in goals
        if to not in ends or state is JobState.RUNNING
    }
    assert drawn == arrows


def test_the_readme_names_make_targets_and_slipway_commands_that_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make ([\w-]+)", text):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    sources = [ROOT / "cli" / "main.py", ROOT / "cli" / "job_commands.py"]
    commands = {name for file in sources for name in re.findall(r"def (\w+)\(", file.read_text("utf-8"))}
    for command in re.findall(r"slipway (validate|setup|drop|submit|jobs|log|up|demo|cancel|show)\b", text):
        assert command in commands, command


def test_every_example_that_the_readme_names_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"examples/[\w./-]+", text)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_changelog_keeps_its_format() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## Unreleased" in text
    assert "### Added" in text
