"""The site of the pages, and llms.txt: nothing is stale, and what publishes them may do nothing else."""

from __future__ import annotations

import re

from local.site import llms
from local.site.doors import doors
from local.site.links import reachable
from tests.unit.documents.corpus import PAGES, ROOT

WORKFLOW = (ROOT / ".github" / "workflows" / "docs.yml").read_text(encoding="utf-8")


def test_the_list_for_programs_is_current() -> None:
    assert llms.FILE.read_text(encoding="utf-8") == llms.text(), "run: python -m local.site.llms"


def test_the_list_for_programs_has_every_page_of_the_index_once_and_is_short() -> None:
    text = llms.text()
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8").partition("\n## ")[2]

    named = re.findall(r"\]\(([^)]+)\)", text)
    expected = {f"docs/{page}" for page in re.findall(r"\]\(([\w/-]+\.md)[#)]", index)}
    assert len(named) == len(set(named)) > 50
    assert expected - set(named) == set()
    assert [name for name in named if not (ROOT / name).is_file()] == []
    assert len(text) < 8000


def test_the_site_has_every_page_and_the_menu_those_of_each_door() -> None:
    pages = {page for page in PAGES if "examples" not in page.parts}

    assert pages - set(reachable(llms.HOME)) == set()
    assert [door.title for door in doors()] == ["I run jobs", "I operate a deployment", "I develop Slipway"]
    assert min(len(door.pages) for door in doors()) > 10


def test_the_workflow_publishes_what_a_tag_has_and_only_the_job_that_pushes_may_write() -> None:
    build, _, publish = WORKFLOW.partition("\n  publish:\n")

    assert 'tags: ["v*"]' in WORKFLOW
    assert re.search(r"^permissions:\n  contents: read$", WORKFLOW, re.M)
    assert "secrets." not in WORKFLOW
    assert ": write" not in build
    assert re.findall(r"([\w-]+): write", publish) == ["contents"]
    assert "environment: release" in publish
    assert "actions/checkout" not in publish, "nothing of the repository runs where it publishes"
    assert "run: make docs" in build
    assert "-m local.site.versions" in build


def test_the_guide_to_a_release_names_it() -> None:
    assert "](.github/workflows/docs.yml)" in (ROOT / "RELEASING.md").read_text(encoding="utf-8")
