"""Runs a program beside the tests with modules of the page.

`bundle.mjs` bundles them in `web`, where the packages of the page are.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from local.setup.node import installed_node, packaged_node
from local.setup.page import WEB

_FOLDER = Path(__file__).parent


def answer_of(program: str, value: Any) -> Any:
    """What a program prints for a value that it reads."""
    text = "\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in ("bundle.mjs", program))
    node = installed_node() or packaged_node(Path(sys.prefix))
    words = [*node.node, "--input-type=module", "--eval", text]
    ran = subprocess.run(words, cwd=WEB, input=json.dumps(value), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
