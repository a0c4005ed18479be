"""The programs for the nodes, each as one text of the files that it needs (`node/`). Pure."""

from __future__ import annotations

import base64
import re
import zlib
from functools import cache
from pathlib import Path

#: An import of ours, on one line or on several: the file that it names is in the same text.
_OURS = re.compile(r"^from shared\.[^\n(]*(?:\([^)]*\))?\n", re.MULTILINE)


@cache
def joined(*names: str) -> str:
    """A program of these files, in this order."""
    folder = Path(__file__).parents[1] / "node"
    parts = (_OURS.sub("", (folder / f"{name}.py").read_text(encoding="utf-8")) for name in names)
    return "".join(("#!/usr/bin/env python3\n", *parts))


def in_brief(program: str) -> str:
    """The same as one short word, for a place where it stands for each job."""
    packed = base64.b64encode(zlib.compress(program.encode(), 9)).decode()
    return f"import base64,zlib;exec(zlib.decompress(base64.b64decode('{packed}')))"
