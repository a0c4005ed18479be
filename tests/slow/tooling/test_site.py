"""`make docs` on the pages as they are, and on pages that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.site import llms
from local.site.build import build
from local.site.doors import doors
from local.site.errors import SiteError

GOOD = """# Home

Text.

## A place

[A page](pages/page.md#in-it), [a picture](pages/picture.svg), [here](#a-place).
"""


def pages(folder: Path, home: str) -> Path:
    """Some pages: home, and one with a picture."""
    (folder / "pages").mkdir()
    (folder / "README.md").write_text(home)
    (folder / "pages" / "page.md").write_text("# Page\n\n## In it\n\n[Home](../README.md#a-place)\n")
    (folder / "pages" / "picture.svg").write_text("<svg></svg>")
    return folder / "README.md"


def test_the_pages_are_a_site_with_every_link_intact(tmp_path: Path) -> None:
    site = build(llms.HOME, doors(), tmp_path / "built")

    assert len([*site.rglob("index.html")]) > 150
    for name in (
        "README.md",
        "docs/how-to/run-a-first-job.md",
        "docs/rules/SW012.md",
        "docs/job.schema.json",
    ):
        assert (site / name).read_bytes() == (llms.HOME.parent / name).read_bytes()
    assert "I operate a deployment" in (site / "index.html").read_text(encoding="utf-8")


def test_a_page_that_is_built_needs_nothing_from_elsewhere_to_be_read(tmp_path: Path) -> None:
    site = build(pages(tmp_path, GOOD), [], tmp_path / "built")

    text = (site / "pages" / "page" / "index.html").read_text(encoding="utf-8")
    assert 'rel="stylesheet" href="https:' not in text
    assert 'src="https:' not in text


@pytest.mark.parametrize(
    ("link", "place"),
    [
        ("[gone](pages/gone.md)", "pages/gone.md"),
        ("[gone](pages/gone.json)", "pages/gone.json"),
        ("[gone](pages/page.md#gone)", "README.md:3"),
        ("[gone](#gone)", "README.md:3"),
        ('<a href="pages/gone/">gone</a>', "pages/gone/"),
        ('<img src="pages/gone.png">', "pages/gone.png"),
    ],
)
def test_a_link_that_leads_nowhere_ends_it_with_the_place(link: str, place: str, tmp_path: Path) -> None:
    home = pages(tmp_path, GOOD.replace("Text.", link))

    with pytest.raises(SiteError) as caught:
        build(home, [], tmp_path / "built")

    assert place in str(caught.value)
    assert "Traceback" not in str(caught.value)
