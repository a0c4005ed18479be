"""`python -m local.site`: builds the pages into .local/site/site, and checks every link."""

import sys

from local.setup.steps import ROOT
from local.site import llms
from local.site.build import build
from local.site.doors import doors
from local.site.errors import SiteError


def main() -> int:
    """0, or 1 with each place that is wrong on standard error."""
    try:
        site = build(llms.HOME, doors(), ROOT / ".local" / "site")
    except SiteError as error:
        sys.stderr.write(f"docs: {error}\n")
        return 1
    (site / llms.FILE.name).write_text(llms.text(), encoding="utf-8")
    sys.stdout.write(f"{site.relative_to(ROOT)}/index.html\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
