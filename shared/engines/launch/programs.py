"""The programs for the nodes, each as one text of the files that it needs (`node/`). Pure."""

from __future__ import annotations

import base64
import zlib
from functools import cache
from pathlib import Path


@cache
def joined(*names: str) -> str:
    """A program of these files, in this order."""
    folder = Path(__file__).parents[1] / "node"
    parts = ["#!/usr/bin/env python3\n"]
    for name in names:
        lines = (folder / f"{name}.py").read_text(encoding="utf-8").splitlines(keepends=True)
        parts += [line for line in lines if not line.startswith("from shared.")]
    return "".join(parts)


def in_brief(program: str) -> str:
    """The same as one short word, for a place where it stands for each job."""
    packed = base64.b64encode(zlib.compress(program.encode(), 9)).decode()
    return f"import base64,zlib;exec(zlib.decompress(base64.b64decode('{packed}')))"
