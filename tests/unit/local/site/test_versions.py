"""Each version has its site; the address without a version leads to the newest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from local.site.errors import SiteError
from local.site.versions import add


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    (folder / "pages").mkdir(parents=True)
    (folder / "index.html").write_text("first")
    (folder / "llms.txt").write_text("- [A page](pages/a.md): Why?\n- [Another](b.md)\n")
    return folder


def test_versions_stand_beside_each_other_and_the_newest_is_first(site: Path, tmp_path: Path) -> None:
    folder = tmp_path / "published"

    for version in ("0.9.0", "0.10.0", "0.9.1"):
        add(site, folder, version)

    rows = json.loads((folder / "versions.json").read_text())
    assert [row["version"] for row in rows] == ["0.10.0", "0.9.1", "0.9.0"]
    assert [row["aliases"] for row in rows] == [["latest"], [], []]
    assert "url=0.10.0/" in (folder / "index.html").read_text()
    assert (folder / "0.9.0" / "index.html").read_text() == "first"
    assert (folder / ".nojekyll").exists()


def test_the_list_for_programs_names_the_pages_of_the_newest_version(site: Path, tmp_path: Path) -> None:
    add(site, tmp_path / "published", "1.0.0")

    text = (tmp_path / "published" / "llms.txt").read_text()
    assert text == "- [A page](1.0.0/pages/a.md): Why?\n- [Another](1.0.0/b.md)\n"


def test_a_version_that_is_published_again_has_nothing_of_what_it_was(site: Path, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    add(site, folder, "1.0.0")
    (folder / "1.0.0" / "old.html").touch()
    (site / "index.html").write_text("second")

    add(site, folder, "1.0.0")

    assert (folder / "1.0.0" / "index.html").read_text() == "second"
    assert not (folder / "1.0.0" / "old.html").exists()


@pytest.mark.parametrize("version", ["", "main", "1.0", "../1.0.0", "1.0.0/..", "v1.0.0", "1.0.0\n"])
def test_what_is_not_a_version_is_not_published(version: str, site: Path, tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="not a version"):
        add(site, tmp_path / "published", version)

    assert not (tmp_path / "published").exists()
