"""Every link of a built site leads to a file of it, and to a place in that file."""

from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit


class Broken(NamedTuple):
    """A link that leads nowhere, and the file that has it."""

    file: str
    link: str


class _Names(HTMLParser):
    """The links and the places of a file."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what the element names."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


def broken(site: Path) -> list[Broken]:
    """The links of a site that lead nowhere; other sites are not asked.

    404.html is left out: a server shows it at any address.
    """
    files = {file: _Names(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}
    files.pop(site / "404.html", None)
    return [
        Broken(file.relative_to(site).as_posix(), link)
        for file, names in files.items()
        for link in names.links
        if not _leads(file, link, files)
    ]


def _leads(file: Path, link: str, files: dict[Path, _Names]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    target = target / "index.html" if target.is_dir() else target
    if not parts.fragment:
        return target.is_file()
    return target in files and unquote(parts.fragment) in files[target].places
