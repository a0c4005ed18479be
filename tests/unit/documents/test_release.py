"""A release: one version everywhere, a name that is free, a workflow that publishes without a secret."""

from __future__ import annotations

import re
import runpy
import tomllib
from typing import Any

import pytest
from typer.testing import CliRunner

from shared import __version__
from slipway.commands.clone import DISTRIBUTION
from slipway.main import app
from tests.unit.documents.corpus import PAGES, ROOT
from tests.unit.openapi import DOCUMENT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOW = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
GUIDE = (ROOT / "RELEASING.md").read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    headings = re.findall(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    shown = CliRunner().invoke(app, ["--version"]).stdout

    assert PROJECT["version"] == __version__ == headings[0] == DOCUMENT["info"]["version"]
    assert shown.startswith(f"slipway {__version__} ")
    assert "shared.__version__" in WORKFLOW, "the tag is compared with it"


def test_what_people_type_is_the_name_on_the_index() -> None:
    """`slipway` there is another project's."""
    named = [
        (page.name, words)
        for page in PAGES
        for words in re.findall(r"(?:pipx?|uvx|uv tool) (?:install |run )?[^`\n]*", page.read_text())
        if re.search(r"(?<![\w/-])slipway(?![\w/-])", words.partition(";")[0])
    ]

    assert PROJECT["name"] == DISTRIBUTION == "slipway-jobs"
    assert named == []
    for page in ("README.md", "RELEASING.md"):
        assert "`pipx install slipway-jobs`" in (ROOT / page).read_text(encoding="utf-8")
        assert "https://pypi.org/project/slipway/" in (ROOT / page).read_text(encoding="utf-8")


def test_the_metadata_has_what_an_index_shows() -> None:
    assert PROJECT["authors"] == [{"name": "The Slipway project"}]
    assert PROJECT["license"] == "MIT"
    assert len(PROJECT["keywords"]) > 4
    assert any(one.startswith("Development Status ::") for one in PROJECT["classifiers"])
    assert "Typing :: Typed" in PROJECT["classifiers"]
    for room in ("slipway", "shared"):
        assert (ROOT / room / "py.typed").is_file()


def test_its_addresses_are_those_of_the_repository_that_publishes_it() -> None:
    where = {
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "someone/slipway",
        "GITHUB_SHA": "abc",
    }

    addresses_in = runpy.run_path(str(ROOT / "setup.py"))["addresses"]
    addresses = addresses_in(where)

    assert addresses_in({}) == {}
    assert addresses["Source"] == "https://github.com/someone/slipway"
    for name in addresses.keys() - {"Source"}:
        place, _, page = addresses[name].partition("/blob/abc/")
        assert place == addresses["Source"]
        assert (ROOT / page).is_file()


def test_no_link_of_the_readme_is_broken_on_the_index() -> None:
    where = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "someone/slipway"}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    text = runpy.run_path(str(ROOT / "setup.py"))["described"](readme, where)

    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) > 20
    assert [one for one in targets if "://" not in one] == []
    assert "](https://github.com/someone/slipway/raw/main/docs/images/overview.png)" in text
    for one in targets:
        _, _, page = one.partition("/main/")
        assert not page or (ROOT / page.partition("#")[0]).is_file(), one


def test_the_workflow_publishes_without_a_secret_and_only_its_last_jobs_may_write() -> None:
    jobs = dict(
        re.findall(r"^  (\w+):\n((?:    .*\n|\n|      .*\n)+)", WORKFLOW.partition("\njobs:\n")[2], re.M)
    )
    writes = {
        name: sorted(re.findall(r"^      ([\w-]+): write$", text.partition("    steps:")[0], re.M))
        for name, text in jobs.items()
    }

    assert "secrets." not in WORKFLOW
    assert re.search(r"^permissions:\n  contents: read$", WORKFLOW, re.M)
    assert writes == {
        "build": ["attestations", "id-token"],
        "publish": ["id-token"],
        "announce": ["contents"],
    }
    assert "environment: release" in jobs["publish"]
    assert "actions/checkout" not in jobs["publish"], "nothing of the repository runs where it publishes"
    assert "make test-install" in jobs["build"]
    assert "make dist sbom" in jobs["build"]


def test_the_guide_fits_on_a_screen() -> None:
    assert len(GUIDE.splitlines()) < 60


@pytest.mark.parametrize("name", [".gitignore", ".funcignore"])
def test_what_is_published_is_no_part_of_the_source_or_of_a_deployment(name: str) -> None:
    assert "dist/" in (ROOT / name).read_text().splitlines()
