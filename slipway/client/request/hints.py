"""A common problem with the files of a first job, found in its script."""

import re
from pathlib import Path

#: These files describe the job; the script does not use them.
_JOB_FILES = ("job.json", "slipway.json")


def left_behind(script: Path) -> list[str]:
    """The files beside a script that it names or imports, which are not uploaded with the script alone."""
    text = script.read_text(encoding="utf-8", errors="replace")
    return sorted(
        path.name
        for path in script.parent.iterdir()
        if path != script and path.suffix and path.name not in _JOB_FILES
        if path.is_file() and _names(text, path)
    )


def _names(text: str, path: Path) -> bool:
    """Whether a script contains the name of a file, or imports it."""
    imported = rf"^\s*(?:from|import)\s+{re.escape(path.stem)}\b" if path.suffix == ".py" else r"(?!)"
    name = rf"(?<![\w.-]){re.escape(path.name)}(?![\w-])"
    return bool(re.search(imported, text, re.MULTILINE) or re.search(name, text))
