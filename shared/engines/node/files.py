"""Small files on a file system that nodes share."""

import json
import os
import re
import time
from pathlib import Path
from typing import Any, Dict

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))", re.ASCII)


def stamp() -> str:
    """Now, in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def expand(text: str, known: Dict[str, str]) -> str:
    """The text with $NAME and ${NAME} replaced where the name is known."""
    return _VARIABLE.sub(lambda match: known.get(match.group(1) or match.group(2), match.group(0)), text)


def read(path: Path) -> Dict[str, Any]:
    """A JSON object; an empty one if there is none, or none that can be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write(path: Path, value: Dict[str, Any], only_new: bool = False) -> None:
    """Whole or not at all, and on the disk. Raises FileExistsError where `only_new` and it is there."""
    new = path.with_name(f"{path.name}.{os.uname().nodename}.{os.getpid()}")
    with new.open("w", encoding="utf-8") as file:
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
