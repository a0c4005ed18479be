"""Patterns of output files: which paths on a node they match. Pure.

A pattern is its author's, and names are those of a task, so matching takes no more steps than a name has
characters times those of the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

#: A variable, a wildcard, or one character as it is.
_TOKEN = re.compile(
    r"\$(?P<name>[A-Za-z_]\w*)|\$\{(?P<braced>[A-Za-z_]\w*)\}|(?P<stars>\*+)|(?P<any>\?)|(?P<set>\[!?\]?[^]]*\])"
    r"|(?P<plain>.)",
    re.DOTALL,
)


class Piece(NamedTuple):
    """A part of a name's pattern: one character as it is, one of a set, or any text (`*`)."""

    plain: str = ""
    one: re.Pattern[str] | None = None

    @property
    def is_star(self) -> bool:
        """Whether it stands for any text."""
        return not self.plain and self.one is None

    def takes(self, letter: str) -> bool:
        """Whether it stands for this character."""
        return self.plain == letter or (self.one is not None and self.one.fullmatch(letter) is not None)


_STAR, _ANY = Piece(), Piece(one=re.compile(".", re.DOTALL))


@dataclass(frozen=True)
class Part:
    """The pattern of one name of a path."""

    pieces: Sequence[Piece]
    #: `**`: any folders
    is_deep: bool = False

    @cached_property
    def text(self) -> str | None:
        """The name, where the pattern is one; None if it has wildcards."""
        plain = "".join(piece.plain for piece in self.pieces)
        return plain if len(plain) == len(self.pieces) and not self.is_deep else None

    def matches(self, name: str) -> bool:
        """Whether it matches a name. One that begins with a dot is matched by a dot only."""
        if name.startswith(".") and not (self.pieces and self.pieces[0].plain == "."):
            return False
        at, letter, star, begun = 0, 0, -1, 0
        while letter < len(name):
            if at < len(self.pieces) and self.pieces[at].is_star:
                star, begun = at, letter
                at += 1
            elif at < len(self.pieces) and self.pieces[at].takes(name[letter]):
                at, letter = at + 1, letter + 1
            elif star >= 0:  # the last star takes one more; those before it need not be asked again
                begun += 1
                at, letter = star + 1, begun
            else:
                return False
        return all(piece.is_star for piece in self.pieces[at:])


def parts_of(pattern: str, folder: str, env: Mapping[str, str]) -> list[Part]:
    """The pattern of each name of an absolute path; relative patterns begin in the folder. Raises re.error.

    A variable stands for its value, in which nothing is a wildcard; one that is not there is not replaced.
    """
    pieces = list[Piece | str]()
    for match in _TOKEN.finditer(pattern):
        name = match["name"] or match["braced"]
        if name:
            pieces += [Piece(letter) for letter in env.get(name, match[0])]
        elif match["stars"]:
            pieces.append(match["stars"])
        elif match["any"]:
            pieces.append(_ANY)
        elif match["set"]:
            pieces.append(Piece(one=_set(match["set"])))
        else:
            pieces.append(Piece(match["plain"]))
    parts = [_part(one) for one in _split(pieces)]
    if not (pieces and pieces[0] == Piece("/")):
        parts = [*(Part([Piece(letter) for letter in name]) for name in folder.split("/")), *parts]
    return _plain_way(parts)


def match_path(parts: Sequence[Part], names: Sequence[str]) -> bool:
    """Whether the patterns of names match those of a path."""
    ways = _after_deep(parts, {0})
    for name in names:
        further = {at for at in ways if parts[at : at + 1] and parts[at].is_deep and not name.startswith(".")}
        further |= {
            at + 1 for at in ways if parts[at : at + 1] and not parts[at].is_deep and parts[at].matches(name)
        }
        ways = _after_deep(parts, further)
    return len(parts) in ways


def _after_deep(parts: Sequence[Part], ways: set[int]) -> set[int]:
    """The parts that may come next: `**` also stands for no folder."""
    result = set[int]()
    for way in ways:
        at = way
        while at not in result:
            result.add(at)
            if at == len(parts) or not parts[at].is_deep:
                break
            at += 1
    return result


def _set(text: str) -> re.Pattern[str]:
    body = text[1:-1]
    no = "^" if body.startswith("!") else ""
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", body[1:] if no else body)
    return re.compile(f"[{no}{escaped}]", re.DOTALL)


def _split(pieces: Sequence[Piece | str]) -> list[list[Piece | str]]:
    parts: list[list[Piece | str]] = [[]]
    for piece in pieces:
        if piece == Piece("/"):
            parts.append([])
        else:
            parts[-1].append(piece)
    return parts


def _part(pieces: Sequence[Piece | str]) -> Part:
    if pieces == ["**"]:
        return Part((), is_deep=True)
    return Part([_STAR if isinstance(piece, str) else piece for piece in pieces])


def _plain_way(parts: Sequence[Part]) -> list[Part]:
    """Without empty names, `.` and `..`."""
    way = list[Part]()
    for part in parts:
        if part.text == "..":
            del way[-1:]
        elif part.text not in ("", "."):
            way.append(part)
    return way
