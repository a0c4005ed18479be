"""The page on going on from a checkpoint shows the script that a test of the whole stack runs."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_script_of_the_page_is_the_one_that_is_run() -> None:
    page = (ROOT / "docs/how-to/go-on-from-a-checkpoint.md").read_text(encoding="utf-8")
    test = (ROOT / "tests/acceptance/commands/test_checkpoint.py").read_text(encoding="utf-8")

    (script,) = re.findall(r"```python\n(# count\.py\n.*?)```", page, re.DOTALL)

    assert script in test
