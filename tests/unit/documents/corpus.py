"""What the tests of this folder read: the pages, their code, and the texts of the programs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]

_FENCE = re.compile(r"^ *```[^\n]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?<=\n\n)(?:(?: {4}|\t)[^\n]*\n)+")
_SPAN = re.compile(r"`([^`]+)`")


def code_of(text: str) -> Iterator[str]:
    """The code of a page: each line of its blocks, with continued lines joined, and each inline span."""
    for block in (*_FENCE.findall(text), *_INDENTED.findall(text)):
        yield from re.sub(r"\\\n\s*", " ", block).splitlines()
    for span in _SPAN.findall(_FENCE.sub("", text)):
        yield " ".join(span.split())


def prose_of(text: str) -> str:
    """A page without its code and without the addresses of its links, on one line."""
    prose = _SPAN.sub("", _INDENTED.sub("\n", _FENCE.sub("", text)))
    return " ".join(re.sub(r"\]\([^)]*\)", "]", prose).split())


def code_of_pages() -> Iterator[tuple[str, str]]:
    """Every piece of code of every page, and the page's path."""
    for page in PAGES:
        for code in code_of(page.read_text(encoding="utf-8")):
            yield str(page.relative_to(ROOT)), code.strip()


@cache
def texts_of_programs() -> tuple[tuple[str, str], ...]:
    """Every string of the programs (messages, help, docstrings) that may hold a command, and its place."""
    return tuple(_texts_of_programs())


def _texts_of_programs() -> Iterator[tuple[str, str]]:
    for folder in ("slipway", "shared", "functions", "local"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            source = file.read_text(encoding="utf-8")
            if "slipway " not in source and "make " not in source:
                continue
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield f"{file.relative_to(ROOT)}:{node.lineno}", node.value
