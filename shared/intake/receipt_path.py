"""receipt_path: where the files about a folder are, in the container of receipts. Pure."""

from __future__ import annotations

import hashlib

#: UTF-16 units of a folder's name that leave room for its files (a blob's name has at most 1,024), and
#: how many characters are kept of a longer one.
_LONGEST, _PREFIX = 900, 400


def receipt_path(folder: str, name: str) -> str:
    """The path of a file about a folder: below its name; a long name is cut and gets a digest."""
    path = folder.strip("/")
    if len(path.encode("utf-16-le")) // 2 > _LONGEST:
        path = f"{path[:_PREFIX]}-{hashlib.sha256(path.encode()).hexdigest()[:16]}"
    return f"{path}/{name}".lstrip("/")
