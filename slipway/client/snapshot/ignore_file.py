"""`.slipwayignore`: the files of a folder that uploads leave out, in the language of `.gitignore`.

One file, at the top of the uploaded folder. Everything works except backslashes and classes such as
`[:digit:]`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from slipway.client.files.own_file import own_file
from slipway.failure import Failure

NAME = ".slipwayignore"
#: A part of a level: a set of characters, or one character.
_PART = re.compile(r"\[[!^]?\]?[^\]]*\]|.", re.DOTALL)
#: What of a level is not a part of a name: sets of characters, wildcards, and the dot of a hidden file.
_ANY = re.compile(r"\[[!^]?\]?[^\]]*\]|[*?.]")


@dataclass(frozen=True)
class _Rule:
    paths: re.Pattern[str]
    #: whether it matches folders only
    folders: bool
    #: whether its matches are uploaded after all
    back: bool
    #: whether it says more of them than that they have a name
    names: bool


class IgnoreFile:
    """The rules: the last one that matches a path decides; everything in an ignored folder is ignored."""

    def __init__(self, rules: Sequence[_Rule] = ()) -> None:
        self._rules = rules

    @classmethod
    def of_folder(cls, folder: Path) -> Self:
        """The folder's rules, if it has any. Raises Failure if they cannot be read."""
        file = own_file(folder, NAME)
        try:
            lines = file.read_text(encoding="utf-8-sig").splitlines() if file is not None else []
        except (OSError, UnicodeDecodeError) as error:
            raise Failure(f"{file} cannot be read: {error}") from None
        rules = list[_Rule]()
        for number, line in enumerate(lines, 1):
            if (text := line.rstrip()) and not text.startswith("#"):
                rules.append(_rule(text, f"{file}, line {number}"))
        return cls(rules)

    @classmethod
    def from_patterns(cls, patterns: Iterable[str], *, any_case: bool = False) -> Self:
        """The rules of a list. With `any_case`, capital letters are as good as small ones."""
        return cls([_rule(pattern, NAME, any_case=any_case) for pattern in patterns])

    def fits(self, path: str, *, folder: bool = False) -> bool:
        """Whether uploads leave out this file or folder, by its path below the folder."""
        levels = path.split("/")
        return path == NAME or any(
            self.decision("/".join(levels[:count]), folder=folder or count < len(levels))
            for count in range(1, len(levels) + 1)
        )

    def decision(self, path: str, *, folder: bool) -> bool | None:
        """Whether the rules leave it out, by itself; None if none of them speaks of it."""
        fitting = (
            one for one in reversed(self._rules) if (folder or not one.folders) and one.paths.fullmatch(path)
        )
        last = next(fitting, None)
        return None if last is None else not last.back

    def takes_back(self, path: str, *, folder: bool) -> bool:
        """Whether a line `!name` speaks of it, and none after that leaves it out.

        `!*` and `!*/` speak of no name: what is never uploaded unless someone asks for it stays here.
        """
        for one in reversed(self._rules):
            if (folder or not one.folders) and one.paths.fullmatch(path):
                if not one.back:
                    return False
                if one.names:
                    return True
        return False


def _rule(text: str, place: str, *, any_case: bool = False) -> _Rule:
    back = text.startswith("!")
    pattern = text.removeprefix("!")
    levels = pattern.strip("/").split("/")
    if "\\" in pattern or "[:" in pattern or not all(levels):
        raise Failure(
            f"{place}: {text!r} is not a pattern; write names with *, ? and [a-z], "
            "without a backslash or [:class:]"
        )
    anywhere = "/" not in pattern.rstrip("/")
    begin = "(?:[^/]+/)*" if anywhere else ""
    try:
        flags = re.DOTALL | (re.IGNORECASE if any_case else 0)
        paths = re.compile(begin + _expression(levels), flags)
        return _Rule(paths, pattern.endswith("/"), back, bool(_ANY.sub("", levels[-1])))
    except re.error as error:
        raise Failure(f"{place}: {text!r} is not a pattern: {error}") from None


def _expression(levels: Sequence[str]) -> str:
    """The regular expression of paths; `**` matches any number of folders, at the end everything in one."""
    *above, last = levels
    folders = ("(?:[^/]+/)*" if level == "**" else f"{_level(level)}/" for level in above)
    return "".join(folders) + (".+" if last == "**" else _level(last))


def _level(level: str) -> str:
    return "".join(map(_part, _PART.findall(level)))


def _part(part: str) -> str:
    if part in ("*", "?"):
        return "[^/]*" if part == "*" else "[^/]"
    if len(part) == 1:
        return re.escape(part)
    inside, negated = part[1:-1], part[1] in "!^"
    text = (inside[1:] if negated else inside).replace("[", r"\[").replace("]", r"\]")
    return f"(?!/)[{'^' if negated else ''}{text}]"
