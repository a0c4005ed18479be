"""What the check of azd's gallery of templates asks for, except for a deployment.

Its rules are those of microsoft/template-validation-action; topics are a setting of the repository.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.unit.documents.corpus import ROOT

#: Each file, by the names that it may have.
FILES = {
    "README": ("README.md",),
    "LICENSE": ("LICENSE", "LICENSE.md"),
    "SECURITY": ("SECURITY.md", ".github/SECURITY.md"),
    "CODE_OF_CONDUCT": ("CODE_OF_CONDUCT.md", ".github/CODE_OF_CONDUCT.md"),
    "CONTRIBUTING": ("CONTRIBUTING.md", ".github/CONTRIBUTING.md"),
    "azure-dev": (".github/workflows/azure-dev.yml", ".github/workflows/azure-dev.yaml"),
    "azure": ("azure.yaml", "azure.yml"),
}
FOLDERS = ("infra", ".devcontainer", ".github/ISSUE_TEMPLATE")
#: It looks for each of these in the text, in any case.
HEADINGS = ("## Features", "## Getting Started", "## Guidance", "## Resources")


@pytest.mark.parametrize("name", FILES)
def test_each_file_is_there(name: str) -> None:
    assert [path for path in FILES[name] if (ROOT / path).is_file()]


@pytest.mark.parametrize("name", FOLDERS)
def test_each_folder_is_there_and_has_something(name: str) -> None:
    assert [*(ROOT / name).iterdir()]


@pytest.mark.parametrize("heading", HEADINGS)
def test_the_readme_has_each_heading_at_the_beginning_of_a_line(heading: str) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    assert re.search(rf"^{heading}\b", text, re.MULTILINE | re.IGNORECASE)


@pytest.mark.parametrize(
    "form", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").iterdir()), ids=lambda one: one.name
)
def test_a_form_for_issues_has_a_name_and_asks_for_something(form: Path) -> None:
    text = form.read_text(encoding="utf-8")
    fields = re.findall(r"^    id: (\w+)\n    attributes:\n      label: .+$", text, re.MULTILINE)

    assert form.suffix == ".yml", "every Markdown file is a page"
    assert re.match(r"name: .+\ndescription: .+\nbody:\n", text)
    assert len(fields) == len(set(fields)) == text.count("type: textarea") > 0


def test_the_template_has_the_name_and_the_version_of_the_release() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

    assert f"\n  template: slipway@{version}\n" in (ROOT / "azure.yaml").read_text(encoding="utf-8")
