"""Small files on a file system that nodes share."""

import json
import os
import re
import time
from pathlib import Path
from typing import Any, Dict

#: Mode of a directory that is its user's alone: records, and what jobs print.
PRIVATE = 0o700
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))", re.ASCII)


def stamp() -> str:
    """Now, in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def expand(text: str, values: Dict[str, str]) -> str:
    """The text with $NAME and ${NAME} replaced where the name is known."""
    return _VARIABLE.sub(lambda match: values.get(match.group(1) or match.group(2), match.group(0)), text)


def read(path: Path) -> Dict[str, Any]:
    """A JSON object; an empty one if there is none, or none that can be read."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def write(path: Path, value: Dict[str, Any], only_new: bool = False) -> None:
    """Whole or not at all, on the disk, and for its user alone.

    Raises FileExistsError where `only_new` and it is there.
    """
    new = path.with_name(f"{path.name}.{os.uname().nodename}.{os.getpid()}")
    with os.fdopen(os.open(str(new), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(value, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    if not only_new:
        new.replace(path)
        return
    try:
        os.link(str(new), str(path))  # atomic on every network file system, which O_EXCL has not always been
    finally:
        new.unlink()
