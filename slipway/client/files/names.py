"""Names of files that this machine cannot give, or cannot tell apart."""

import os
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from shared.core.visible import is_visible
from slipway.client.files.remote import Remote

_LONGEST = 255


@lru_cache(maxsize=256)
def impossible(name: str) -> str:
    """Why a file here cannot have the name; "" when it can."""
    if name in ("", ".", "..") or "\\" in name:
        return "its name would lead to another folder"
    if not is_visible(name):
        return "its name has characters that no terminal shows"
    return "its name is too long" if len(os.fsencode(name)) > _LONGEST else ""


def twins(files: Sequence[Remote]) -> frozenset[Remote]:
    """All but the first of those whose names are one where case does not count."""
    by_name: dict[str, Remote] = {}
    return frozenset(file for file in files if by_name.setdefault(_folded(file.name), file) is not file)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
