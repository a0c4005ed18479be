"""What a page links to in the repository."""

import re
from collections.abc import Iterator
from pathlib import Path

from local.site.errors import SiteError

_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def links(text: str) -> Iterator[tuple[str, str]]:
    """Text and target of each link of a Markdown text."""
    return ((match["text"], match["target"]) for match in _LINK.finditer(text))


def title(page: Path) -> str:
    """The first heading of a page, without marks."""
    heading = _TITLE.search(page.read_text(encoding="utf-8"))
    if heading is None:
        raise SiteError(f"{page}: it has no title")
    return heading[1].replace("`", "")


def reachable(home: Path) -> list[Path]:
    """A page and every file that it, and each page behind it, links to. Raises SiteError."""
    files = [home]
    for page in files:
        if page.suffix == ".md":
            files += [file for file in dict.fromkeys(_files(page)) if file not in files]
    return files


def _files(page: Path) -> Iterator[Path]:
    for _, target in links(page.read_text(encoding="utf-8")):
        name = target.partition("#")[0]
        if name and "://" not in target and not target.startswith("mailto:"):
            file = (page.parent / name).resolve()
            if not file.is_file():
                raise SiteError(f"{page}: there is no file {target}")
            yield file
