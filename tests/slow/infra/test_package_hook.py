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
    hooks = (ROOT / "azure.yaml").read_text().partition("\nhooks:\n")[2]
    hook = re.search(r"^  prepackage:\n    posix:\n      shell: sh\n      run: (.+)\n", hooks, re.MULTILINE)
    assert hook is not None
    assert hook[1] == "make install-demo"

    subprocess.run(["sh", "-c", hook[1]], cwd=ROOT, check=True, capture_output=True)

    assert page.is_built()
