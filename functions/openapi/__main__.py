"""`python -m functions.openapi` writes what is made from the declarations and committed; tests compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import function_app  # noqa: F401 - its modules declare the operations
from functions.openapi.outline import outline
from functions.openapi.shapes import shapes
from functions.openapi.typescript import typescript

ROOT = Path(__file__).resolve().parents[2]
#: What is made, by its place.
GENERATED: Mapping[Path, Callable[[], str]] = {
    ROOT / "docs" / "reference" / "operations.md": outline,
    ROOT / "web" / "src" / "answers.ts": typescript,
    ROOT / "slipway" / "client" / "shapes.pyi": shapes,
}

if __name__ == "__main__":
    for file, text_of in GENERATED.items():
        file.write_text(text_of(), encoding="utf-8")
