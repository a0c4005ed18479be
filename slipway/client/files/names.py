"""Names of files that this machine cannot give, or cannot tell apart."""

import os
import unicodedata
from functools import lru_cache

from shared.core.visible import is_visible

_LONGEST = 255


@lru_cache(maxsize=256)
def impossible(name: str) -> str:
    """Why a file here cannot have the name; "" when it can."""
    if name in ("", ".", "..") or "\\" in name:
        return "its name would lead to another folder"
    if not is_visible(name):
        return "its name has characters that no terminal shows"
    return "its name is too long" if len(os.fsencode(name)) > _LONGEST else ""


def folded(name: str) -> str:
    """What names have in common that are one where case, and how letters are composed, do not count."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
