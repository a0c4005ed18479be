"""Which names of files no request can carry, and which are refused because people misread them.

The one place that decides this, for drops, outputs and paths of a job. A name of any other characters is
carried by storage and its clients: spaces of all kinds, joiners, letters that this Python does not know yet.
"""

from __future__ import annotations

import re

from shared.jobspec.text.lookalikes import character_name

#: Characters that hide or reorder the text around them, as a class of a regular expression.
HIDING = "\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff"
#: All that C0 and C1 have, and DEL.
CONTROLS = "\x00-\x1f\x7f-\x9f"
#: Parts of a path that a client resolves before it sends the request.
_CLIMBS = (".", "..")
#: Bytes of one level of a path.
_LONGEST_LEVEL = 255
#: The characters that no name may have, and why; the first class that fits one is its reason.
_REASONS = (
    (re.compile(r"\\"), "a backslash, which clients turn into a slash"),
    (re.compile(f"[{CONTROLS}]"), "the control character {}, which storage does not allow"),
    (re.compile("[\ud800-\udfff]"), "half of a surrogate pair, {}, which UTF-8 cannot hold"),
    (re.compile("[\ufffe\uffff]"), "the character {}, which the lists of storage cannot hold"),
    (re.compile(f"[{HIDING}]"), "the character {}, which hides or reorders what people read"),
    (re.compile("[\u2028\u2029]"), "the character {}, which breaks the line that people read"),
)
_ANY = re.compile(f"[\\\\{CONTROLS}\ud800-\udfff\ufffe\uffff{HIDING}\u2028\u2029]")


def name_flaw(name: str) -> str:
    """What the name of a blob has that no request or no person can handle; "" if it is sound.

    The answer continues a sentence that begins with the name.
    """
    if flaw := character_flaw(name):
        return flaw
    if name.startswith("/"):
        return "begins with a slash, which clients leave out"
    if "//" in name:
        return "has an empty level, which no file system shows"
    level = next((one for one in name.split("/") if one in _CLIMBS), None)
    return f'has "{level}" as a level, which clients resolve before they ask' if level else ""


def is_left_over(name: str) -> bool:
    """Whether a level of a name is that of a hidden file, or of a leftover of Python or an editor."""
    levels = name.split("/")
    return any(one == "__pycache__" or (one.startswith(".") and one not in _CLIMBS) for one in levels)


def is_ignored(name: str) -> bool:
    """Whether a blob of this name belongs to no drop."""
    return is_left_over(name) or bool(name_flaw(name))


def level_flaw(path: str) -> str:
    """What a level of a path has that no file system of a node takes; "" if nothing."""
    longest = max(len(level.encode("utf-8", "replace")) for level in path.split("/"))
    if longest <= _LONGEST_LEVEL:
        return ""
    return f"has a level of {longest} bytes, and file systems take {_LONGEST_LEVEL}"


def character_flaw(text: str) -> str:
    """The same for the characters alone, of a name or of a path below a folder."""
    match = _ANY.search(text)
    if match is None:
        return ""
    reason = next(reason for form, reason in _REASONS if form.match(match[0]))
    return f"has {reason.format(character_name(match[0]))}"
