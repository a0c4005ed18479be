"""A link of a built site that leads nowhere is noticed, of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.site.check import broken

GOOD = (
    *("", "#here", "page/", "page", "page/#there", "page/index.html", "data.json", "a%20b.txt"),
    *("https://example.com/", "//example.com/", "mailto:a@example.com", "page/?q=1#there"),
)
WRONG = ("#nowhere", "page/#here", "gone/", "gone.json", "data.json#place", "empty/", "../outside.html")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    for name in ("page", "empty"):
        (folder / name).mkdir(parents=True)
    (folder / "page" / "index.html").write_text('<h1 id="there">Page</h1>')
    (folder / "data.json").touch()
    (folder / "a b.txt").touch()
    return folder


@pytest.mark.parametrize("attribute", ["href", "src"])
@pytest.mark.parametrize(
    ("link", "is_good"), [*((one, True) for one in GOOD), *((one, False) for one in WRONG)]
)
def test_a_link_leads_somewhere_or_is_named(link: str, is_good: bool, attribute: str, site: Path) -> None:
    (site / "index.html").write_text(f'<p id="here"><x {attribute}="{link}"></p>')

    assert [one.link for one in broken(site)] == ([] if is_good else [link])


def test_the_answer_for_any_address_is_not_asked(site: Path) -> None:
    (site / "404.html").write_text('<a href="/gone/">home</a>')

    assert broken(site) == []
