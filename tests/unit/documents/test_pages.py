"""The pages are right: links resolve, the tests that they name exist, the diagram is the table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shared.core.states import ARROWS, JobState
from tests.unit.documents.corpus import PAGES, ROOT

#: Pages of one reader with several tasks, of which each has a section.
_LONG = {
    "connect-a-cluster.md": 110,
    "deploy.md": 160,
    "operate-a-deployment.md": 210,
    "share-clusters.md": 230,
    "troubleshoot-a-job.md": 230,
}
ROOMS = ("bench", "functions", "local", "shared", "slipway", "tests")


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_resolves(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{page.name}: {target}"
        if anchor:
            assert anchor in _anchors(file), f"{page.name}: {target}"


def test_the_index_links_to_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {str(page.relative_to(ROOT / "docs")) for page in PAGES if ROOT / "docs" in page.parents}
    rules = {page for page in pages if page.startswith("rules/SW")}

    assert {page for page in pages - rules - {"README.md"} if f"]({page}" not in index} == set()


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent.name == "how-to"], ids=lambda page: page.stem
)
def test_a_how_to_is_short(page: Path) -> None:
    """What is looked up, and not followed, belongs in `docs/reference`."""
    text = page.read_text(encoding="utf-8")
    longest = max(len(task.splitlines()) for task in re.split(r"^## ", text, flags=re.MULTILINE))

    assert longest < 100
    assert len(text.splitlines()) < _LONG.get(page.name, 100)


def test_every_page_that_a_text_names_is_there() -> None:
    files = [*PAGES, *(file for room in ROOMS for file in (ROOT / room).rglob("*.py"))]
    named = {
        (str(file.relative_to(ROOT)), name)
        for file in files
        for name in re.findall(r"(?<![\w/])docs/[\w./-]+\.(?:md|json)\b", file.read_text(encoding="utf-8"))
    }

    assert len(named) > 20
    assert sorted((file, name) for file, name in named if not (ROOT / name).exists()) == []


def test_every_source_file_that_a_page_or_a_docstring_names_is_there() -> None:
    sources = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    have = [path.relative_to(ROOT).as_posix() for path in sources]
    pages = [page for page in PAGES if "rules" not in page.parts]
    named = {
        (page.name, name)
        for page in (*pages, *(path for path in sources if "tests" not in path.parts))
        for name in re.findall(r"`((?:\w+/)*\w+\.py)`", page.read_text(encoding="utf-8"))
    }

    assert len(named) > 20
    others = {"train.py", "utils.py", "function_app.py", "copy_metrics.py"}
    remote = {name for _, name in named if any(f"/{one}".endswith(f"/{name}") for one in have)} | others
    assert {(page, name) for page, name in named if name not in remote} == set()


def test_every_test_that_a_page_names_is_there() -> None:
    named = {
        (page.name, name)
        for page in PAGES
        for name in re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8"))
    }
    sources = [file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py")]
    remote = {name for text in sources for name in re.findall(r"def (test_\w+)\(", text)}

    assert len(named) > 50
    assert {(page, name) for page, name in named if name not in remote} == set()


def test_every_setting_and_variable_that_a_page_names_is_there() -> None:
    name = re.compile(r"SLIPWAY(?:_[A-Z]+)+")
    named = {
        (page.name, matches) for page in PAGES for matches in name.findall(page.read_text(encoding="utf-8"))
    }
    sources = [file for room in ROOMS for file in (ROOT / room).rglob("*.py")]
    sources += (ROOT / "infra").glob("main.*")
    remote = {matches for file in sources for matches in name.findall(file.read_text(encoding="utf-8"))}

    assert len(named) > 50
    assert {(page, matches) for page, matches in named if matches not in remote} == set()


def test_the_state_diagram_is_the_table_of_arrows() -> None:
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
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


def test_every_example_that_the_readme_names_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"examples/[\w./-]+", text)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_changelog_says_what_the_first_release_offers() -> None:
    """Nothing is changed or fixed yet. After a merge of old lines: git checkout main -- CHANGELOG.md."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    points = re.findall(r"^- .*$", text, re.MULTILINE)

    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["0.1.0"]
    assert not re.search(r"^### (Added|Changed|Deprecated|Removed|Fixed)\b", text, re.MULTILINE)
    assert len(points) == len(set(points)) > 20
    assert len(text.splitlines()) < 110


_CURL = re.compile(r"\bcurl (?:[^`\n]|\\\n)+")


def _curl_lines() -> list[tuple[str, str]]:
    """Every call of curl that a page shows or a program prints, and where."""
    sources = [*PAGES, ROOT / "slipway" / "stack" / "up.py", ROOT / "local" / "slurm" / "__main__.py"]
    return [
        (file.name, line.strip().rstrip("\"',"))
        for file in sources
        for line in _CURL.findall(file.read_text(encoding="utf-8"))
    ]


def test_what_a_curl_line_of_a_page_sends_is_taken() -> None:
    lines = _curl_lines()
    assert len(lines) >= 4

    for where, line in lines:
        sends = re.search(r" (-d|--data|--data-\w+|-F|--form)\b", line)
        typed = re.search(r"-H ['\"]Content-Type: application/json['\"]", line)
        assert typed or not sends, f"{where}: curl would call this a form: {line}"
        assert not re.search(r"-H ['\"](Host|Origin):", line), f"{where}: {line}"


def test_every_page_is_reached_from_the_readme_in_two_clicks() -> None:
    def linked(page: Path) -> set[Path]:
        targets = re.findall(r"\]\(([^)\s#]+)[^)]*\)", page.read_text(encoding="utf-8"))
        files = ((page.parent / one).resolve() for one in targets if "://" not in one)
        return {file for file in files if file.suffix == ".md" and file.is_file()}

    first = linked(ROOT / "README.md")
    second = {file for page in first for file in linked(page)}

    pages = {page for page in PAGES if ROOT / "docs" in page.parents}
    assert {str(page.relative_to(ROOT)) for page in pages - first - second} == set()


def test_a_person_who_runs_jobs_has_ten_questions_at_most() -> None:
    """The index has a door for each reader, by question."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    doors = dict(re.findall(r"^## (I .+)\n((?:(?!^## ).*\n?)+)", index, re.MULTILINE))

    assert [*doors] == ["I run jobs", "I operate a deployment", "I develop Slipway"]
    rows = {door: len(re.findall(r"^\| [^|]+\? \|", text, re.MULTILINE)) for door, text in doors.items()}
    assert max(rows.values()) <= 10
