"""The words of a command line as bash would read them, each with its quotes removed. Nothing is expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

#: Characters of a word that the shell reads: unquoted, quoted, or with a meaning of their own.
BARE, QUOTED, LIVE = "b", "q", "l"
_PLAIN = re.compile(r"[A-Za-z0-9_./,:=@%+^!~-]+")
_ENDS = frozenset(" \t\n;|&<>()`")
_GLOBS = frozenset("*?[]{}")
#: What a backslash takes its meaning from between double quotes.
_ESCAPED = frozenset('$`"\\\n')


class Word(NamedTuple):
    """A word of a command line."""

    #: what the program gets, with variables as they are written
    text: str
    #: for each character of it BARE, QUOTED or LIVE: a `$` of a variable, a pattern of names
    marks: str
    #: for each character of it, its place in the command line
    places: tuple[int, ...]
    #: whether the shell writes into the file of this name
    written: bool


def words(command: str) -> Iterator[Word]:
    """Every word, also those in substitutions; no comments. Any text is read, as far as it makes sense."""
    at, written = 0, False
    while at < len(command):
        character = command[at]
        if character == "#":  # at the start of a word, a comment
            at = (command.find("\n", at) + 1) or len(command)
        elif character in _ENDS:
            # `>`, `>>`, `2>&`, `>|`: the next word is a file that is written.
            written = character == ">" or (written and character in " \t&|")
            at += 1
        else:
            reader = _Reader(command, at)
            at = reader.read()
            word = reader.word(written=written)
            # A number before `>` belongs to it, and is not a word.
            if word.text and not (word.text.isdigit() and command[at : at + 1] in ("<", ">")):
                yield word
            written = False


class _Reader:
    """Reads one word, from its first character on."""

    def __init__(self, command: str, at: int) -> None:
        self._command, self._at = command, at
        self._text: list[str] = []
        self._marks: list[str] = []
        self._places: list[int] = []

    def word(self, *, written: bool) -> Word:
        """The word as far as it was read."""
        return Word("".join(self._text), "".join(self._marks), tuple(self._places), written)

    def read(self) -> int:
        """Read to the end of the word; the place after it."""
        command = self._command
        while self._at < len(command) and command[self._at] not in _ENDS:
            if run := _PLAIN.match(command, self._at):
                self._take(len(run[0]), BARE)
            elif (character := command[self._at]) == "\\":
                self._escape(continues=command[self._at + 1 : self._at + 2] == "\n")
            elif character == "'" and (end := command.find("'", self._at + 1)) > 0:
                self._at += 1
                self._take(end - self._at, QUOTED)
                self._at += 1
            elif character == '"' and _closes(command, self._at):
                self._double()
            else:
                self._take(1, LIVE if character in _GLOBS or character == "$" else BARE)
        return self._at

    def _double(self) -> None:
        """The text between double quotes, in which variables and substitutions live."""
        command = self._command
        self._at += 1
        while command[self._at] != '"':
            character, following = command[self._at], command[self._at + 1]
            if character == "\\" and following in _ESCAPED:
                self._escape(continues=following == "\n")
            else:
                self._take(1, LIVE if character in "$`" else QUOTED)
        self._at += 1

    def _escape(self, *, continues: bool) -> None:
        """A backslash, and the character that it quotes; one before a line end continues the line."""
        self._at += 1
        if continues:
            self._at += 1
        elif self._at < len(self._command):
            self._take(1, QUOTED)

    def _take(self, count: int, mark: str) -> None:
        self._text.append(self._command[self._at : self._at + count])
        self._marks.append(mark * count)
        self._places.extend(range(self._at, self._at + count))
        self._at += count


def _closes(command: str, at: int) -> bool:
    """Whether the double quote here has its end; without one, it is a character such as any other."""
    at += 1
    while at < len(command):
        if command[at] == "\\":
            at += 1
        elif command[at] == '"':
            return True
        at += 1
    return False
