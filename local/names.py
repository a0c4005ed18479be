"""Which names files have in storage. What a job calls otherwise can be neither listed nor asked for."""

import re

#: No control characters, and nothing that XML and UTF-8 lack.
_TEXT = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]+")
_MOST_BYTES = 255


def is_name(part: str) -> bool:
    """Whether one part of a path is the name of a file or a directory."""
    text = part not in (".", "..") and _TEXT.fullmatch(part)
    return bool(text) and len(part.encode()) <= _MOST_BYTES
