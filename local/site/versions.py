"""The sites of all versions in one folder.

`python -m local.site.versions FOLDER VERSION` adds what `make docs` has built. What chooses a version on each
page reads versions.json. The address without a version leads to the newest.
"""

import argparse
import json
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from local.setup.steps import ROOT
from local.site.errors import SiteError

BUILT = ROOT / ".local" / "site" / "site"
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_MOVED = """<!doctype html>
<meta charset="utf-8">
<title>Slipway</title>
<meta http-equiv="refresh" content="0; url={0}/">
<a href="{0}/">Slipway {0}</a>
"""


def add(site: Path, folder: Path, version: str) -> None:
    """Put a site beside those of other versions, in place of one of the same version. Raises SiteError."""
    if not _VERSION.fullmatch(version):
        raise SiteError(f"{version} is not a version, such as 1.2.3")
    shutil.rmtree(folder / version, ignore_errors=True)
    shutil.copytree(site, folder / version)
    versions = sorted(filter(_VERSION.fullmatch, (one.name for one in folder.iterdir())), key=_order)[::-1]
    rows = [{"version": one, "title": one, "aliases": ["latest"] * (one == versions[0])} for one in versions]
    (folder / "versions.json").write_text(json.dumps(rows), encoding="utf-8")
    (folder / "index.html").write_text(_MOVED.format(versions[0]), encoding="utf-8")
    pages = (folder / versions[0] / "llms.txt").read_text(encoding="utf-8")
    (folder / "llms.txt").write_text(pages.replace("](", f"]({versions[0]}/"), encoding="utf-8")
    (folder / ".nojekyll").touch()  # GitHub serves the files as they are


def _order(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def main(arguments: Sequence[str]) -> int:
    """0, or 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m local.site.versions", description="Add a version.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("version")
    options = parser.parse_args(arguments)
    try:
        add(BUILT, options.folder, options.version)
    except SiteError as error:
        sys.stderr.write(f"docs: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
