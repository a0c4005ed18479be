"""llms.txt, the list of the pages for programs that read: `python -m local.site.llms` writes it."""

import re

from local.setup.steps import ROOT
from local.site.doors import Page, doors
from local.site.links import title

FILE = ROOT / "llms.txt"
HOME = ROOT / "README.md"
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MORE = """Each page is Markdown. `slipway skill` prints how a program uses the installed version, and a
deployment describes its API at `/api/openapi.json`."""


def text() -> str:
    """The list: what Slipway is, and each door with its pages (https://llmstxt.org)."""
    about = " ".join(HOME.read_text(encoding="utf-8").split("\n\n")[1].split())
    plain = _LINK.sub(r"\1", about)
    sections = (f"\n## {door.title}\n\n{''.join(map(_line, door.pages))}" for door in doors())
    return f"# {title(HOME)}\n\n> {plain}\n\n{_MORE}\n{''.join(sections)}"


def _line(page: Page) -> str:
    where = page.file.relative_to(ROOT).as_posix()
    return f"- [{page.title}]({where})" + (f": {page.question}\n" if page.question else "\n")


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
