"""Build the site of a page and of all that is reached from it, with zensical."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from local.site.check import broken
from local.site.doors import Door
from local.site.errors import SiteError
from local.site.links import reachable

_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_PATIENCE = 300.0
#: No font is fetched from elsewhere. The other versions are those of local/site/versions.py.
_CONFIG = """[project]
site_name = "Slipway"
docs_dir = "pages"
site_dir = "site"
nav = [
{nav}
]

[project.theme]
font = false
features = ["content.code.copy", "navigation.sections", "navigation.top", "search.highlight"]

[project.extra.version]
provider = "mike"
"""


def build(home: Path, doors: Sequence[Door], folder: Path) -> Path:
    """The site, made anew in this folder. Raises SiteError, with the places of links that lead nowhere."""
    files = reachable(home)
    shutil.rmtree(folder, ignore_errors=True)
    _copy(files, home.parent, folder / "pages")
    config = folder / "zensical.toml"
    config.write_text(_CONFIG.format(nav=_nav(home, doors)), encoding="utf-8")
    _run([sys.executable, "-m", "zensical", "build", "--strict", "--config-file", str(config)])
    site = folder / "site"
    _copy(
        files, home.parent, site
    )  # the pages as they are, for programs that read, and what zensical leaves out
    if wrong := broken(site):
        raise SiteError("\n".join(f"{one.file}: {one.link} leads nowhere" for one in wrong))
    return site


def _copy(files: Sequence[Path], root: Path, folder: Path) -> None:
    for file in files:
        copy = folder / file.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)


def _nav(home: Path, doors: Sequence[Door]) -> str:
    lines = [f"  {json.dumps(home.name)},"]
    for door in doors:
        pages = ", ".join(
            f"{{ {json.dumps(page.title)} = {json.dumps(page.file.relative_to(home.parent).as_posix())} }}"
            for page in door.pages
        )
        lines.append(f"  {{ {json.dumps(door.title)} = [{pages}] }},")
    return "\n".join(lines)


def _run(argv: Sequence[str]) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    if done.returncode:
        report, _, _ = _COLOUR.sub("", done.stdout + done.stderr).partition("Traceback")
        raise SiteError(report.strip())
