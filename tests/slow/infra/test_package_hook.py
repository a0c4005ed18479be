"""The hook that builds the page before azd makes the package.

`make test-install` shows that the same command builds it in a fresh clone.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from local.setup import page

ROOT = Path(__file__).resolve().parents[3]


def test_the_package_is_made_after_a_hook_that_builds_the_page() -> None:
    """A hook of the service: azd runs one of the project before `azd up`, and not before `azd deploy`."""
    service = (ROOT / "azure.yaml").read_text().partition("\n  dispatcher:\n")[2].partition("\nhooks:\n")[0]
    hook = re.search(
        r"^    hooks:\n(?: +#.*\n)* {6}prepackage:\n {8}posix:\n {10}shell: sh\n {10}run: (.+)$",
        service,
        re.MULTILINE,
    )
    assert hook is not None
    assert hook[1] == "make install-demo"

    subprocess.run(["sh", "-c", hook[1]], cwd=ROOT, check=True, capture_output=True)

    assert page.is_built()
