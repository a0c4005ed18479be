"""File names that this machine cannot use, or cannot tell apart."""

import os
import re
import unicodedata
from functools import lru_cache

from shared.jobspec import character_flaw

_LONGEST = 255
#: Characters of no name on Windows, and the names of its devices, which an extension does not change.
_REFUSED = re.compile(r'[<>:"|?*]')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[1-9¹²³]) *(?:\..*)?", re.IGNORECASE)


@lru_cache(maxsize=256)
def impossible(name: str, platform: str = os.name) -> str:
    """Why a file of this platform, by default of this machine, cannot have the name; "" if it can."""
    if name in ("", ".", "..") or "\\" in name:
        return "its name would lead to another folder"
    if flaw := character_flaw(name):
        return f"its name {flaw}"
    if platform == "nt" and (flaw := _windows_flaw(name)):
        return f"its name {flaw}, which Windows does not allow"
    return too_long(name)


def _windows_flaw(name: str) -> str:
    if refused := _REFUSED.search(name):
        return f"has {refused[0]!r}"
    if name.endswith((".", " ")):
        return f"ends with {name[-1]!r}"
    return "is that of a device" if _DEVICE.fullmatch(name) else ""


def too_long(name: str) -> str:
    """Why a file here cannot have the name for its length or the locale; "" if it can."""
    try:
        return "its name is too long" if len(os.fsencode(name)) > _LONGEST else ""
    except UnicodeEncodeError:
        return "its name has characters that the locale of this machine lacks; set LC_ALL to one of UTF-8"


def undecodable(name: str) -> str:
    """Which byte of a file's name is not UTF-8, to continue a sentence that begins with it; "" if none."""
    byte = next((ord(one) - 0xDC00 for one in name if "\udc80" <= one <= "\udcff"), None)
    return "" if byte is None else f"has the byte 0x{byte:02X}, which is not UTF-8"


class Neighbours:
    """The names so far, on a disk that may take two different names for the same file.

    Such a disk ignores case, or how letters are composed (é as one character, or e and an accent), or both.
    """

    def __init__(self, *, ignores_case: bool, ignores_composition: bool) -> None:
        self._ignores_case, self._ignores_composition = ignores_case, ignores_composition
        #: by their form without these differences
        self._first: dict[str, str] = {}

    def conflict(self, name: str) -> str:
        """Why the name conflicts with an earlier one; "" if it does not."""
        if not (self._ignores_case or self._ignores_composition):
            return ""
        first = self._first.setdefault(self._folded(name), name)
        if first == name:
            return ""
        difference = "in how letters are composed" if _composed(first) == _composed(name) else "in case"
        return f"another file's name differs {difference} only, which this disk does not distinguish"

    def _folded(self, name: str) -> str:
        composed = _composed(name) if self._ignores_composition else name
        folded = composed.casefold() if self._ignores_case else composed
        return _composed(folded) if self._ignores_composition else folded


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)
