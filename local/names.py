"""The names that files may have in storage. A file with another name can be neither listed nor requested."""

import os
import re

#: No control characters, and nothing that XML and UTF-8 lack.
_TEXT = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]+")
_MOST_BYTES = 255


def is_name(part: str) -> bool:
    """Whether one part of a path is the name of a file or a directory."""
    text = part not in (".", "..") and _TEXT.fullmatch(part)
    return bool(text) and len(part.encode()) <= _MOST_BYTES


def shown(part: str) -> str:
    """The listed form of a name that can be neither shown nor requested: its characters or bytes, escaped."""
    text = os.fsencode(part).decode("utf-8", "backslashreplace")
    visible = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return visible[:_MOST_BYTES]
