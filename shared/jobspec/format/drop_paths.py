"""The paths of dropped files in a job: a field is one path; in a command line, the shell's quotes decide."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from shared.jobspec.text.file_names import name_flaw
from shared.jobspec.text.shell import BARE, LIVE, Word, words

JOB_MOUNT_ROOT = "$AZ_BATCHAI_JOB_MOUNT_ROOT"
#: Where the drop container appears, below the job's mount root.
DROP_MOUNT = "scripts"
#: Fields that hold nothing but the path of a file.
PATH_FIELDS = ("pythonScriptFilePath", "configFilePath")
_ROOT = r"\$(?:AZ_BATCHAI_JOB_MOUNT_ROOT(?![A-Za-z0-9_])|\{AZ_BATCHAI_JOB_MOUNT_ROOT\})"
_VARIABLE = re.compile(_ROOT, re.ASCII)
#: Stands for the variable in a word whose quotes are removed; no text of a job has this character.
_MARK = "\0"
_ANY_VARIABLE = re.compile(r"\$[A-Za-z_{]", re.ASCII)
#: Between the variable and the mount; a level "." changes nothing.
_DOTS = r"/+(?:\./+)*"
_MARKED = re.compile(rf"{_MARK}{_DOTS}{DROP_MOUNT}/")
_FIELD = re.compile(rf"{_ROOT}{_DOTS}{DROP_MOUNT}/(?P<path>.*)", re.ASCII | re.DOTALL)
#: A file of a command line is recognised by its suffix; a name without one may be a directory.
_FILE = re.compile(r"[^/]\.[A-Za-z][A-Za-z0-9]{0,9}$", re.ASCII)
#: The plain beginning of a path: what follows may be a part of the name, or belong to the program's syntax.
_BEGINNING = re.compile(r"[A-Za-z0-9_./-]*", re.ASCII)
#: What cannot follow a name in a command line without being a pattern or a variable of its own.
_PATTERN = frozenset("*?[$`{")
_BLANK = re.compile(r"[ \t\n]")
#: An option of shells whose word is a command line of its own.
_OPTION = re.compile(r"-[A-Za-z]*c", re.ASCII)
_LONGEST_PATH = 1024
#: How many command lines may be inside each other.
_DEEPEST = 4


class DropPath(NamedTuple):
    """A path below the mount of the drop container."""

    #: the path as the text has it, from the variable on
    written: str
    #: the name of the blob
    name: str
    #: whether nothing else can be meant; otherwise the name counts if there is such a blob
    certain: bool = True


def path_of_field(text: str) -> DropPath | None:
    """The file that a field names, which holds nothing but a path; None if that is in no drop.

    A variable in the path is set on the node, so what it names is not known here.
    """
    match = _FIELD.fullmatch(text)
    name = _blob(match["path"]) if match else None
    return DropPath(text, name, certain=not _ANY_VARIABLE.search(name)) if name else None


def is_file(name: str) -> bool:
    """Whether the name has the suffix of a file."""
    return bool(_FILE.search(name))


def paths_of_command(text: str) -> Iterator[DropPath]:
    """The files that a command line names, but those that the shell writes."""
    if _VARIABLE.search(text):
        yield from _of_command(text, text.replace(_MARK, "\ufffd"), range(len(text)), 0)


def _of_command(source: str, text: str, places: range | tuple[int, ...], depth: int) -> Iterator[DropPath]:
    before = ""
    for one in words(text):
        word = _with_marks(one._replace(places=tuple(places[at] for at in one.places)))
        if not word.written:
            yield from _of_word(source, word, before, depth)
        before = word.text


def _of_word(source: str, word: Word, before: str, depth: int) -> Iterator[DropPath]:
    matches = list(_MARKED.finditer(word.text))
    if depth < _DEEPEST and _is_command(word.text, matches, before):
        yield from _of_command(source, word.text, word.places, depth + 1)
        return
    for match, following in zip_longest(matches, matches[1:]):
        yield from _readings(source, word, match, following.start() if following else None)


def _is_command(text: str, matches: list[re.Match[str]], before: str) -> bool:
    """Whether another shell reads the word: blanks stand before a path, or the variable in single quotes."""
    if _VARIABLE.search(text):
        return True
    blank = _BLANK.search(text) if matches else None
    return blank is not None and (blank.start() < matches[0].start() or bool(_OPTION.fullmatch(before)))


def _readings(source: str, word: Word, match: re.Match[str], end: int | None) -> Iterator[DropPath]:
    """The names that a path may have, which ends at the next one in a list such as A:B."""
    start = match.end()
    path = word.text[start:] if end is None else word.text[start:end].rstrip(",:;=")
    path = path.rstrip(".")
    cut = _BEGINNING.match(path)
    beginning = cut[0].rstrip(".") if cut else ""
    rest, first = path[len(beginning) :], word.places[match.start()]
    name = None if LIVE in word.marks[start : start + len(path)] else _file(path)
    short = _file(beginning) if rest and rest[0] not in _PATTERN else None
    # With `short`, the text is a name of its own, or a name and what the program makes of the rest.
    doubtful = short is not None and word.marks[start + len(beginning)] == BARE
    for one, length, certain in ((name, len(path), not doubtful), (short, len(beginning), False)):
        if one is not None:
            written = source[first : word.places[start + length - 1] + 1]
            yield DropPath(written, one, certain and not one.startswith(".") and "/." not in one)


def _with_marks(word: Word) -> Word:
    """The word with a mark in place of each variable that the shell would expand."""
    text, marks, places, end = "", "", list[int](), 0
    for match in _VARIABLE.finditer(word.text):
        if word.marks[match.start()] == LIVE:
            text += word.text[end : match.start()] + _MARK
            marks += word.marks[end : match.start()] + BARE
            places += [*word.places[end : match.start()], word.places[match.start()]]
            end = match.end()
    return Word(text + word.text[end:], marks + word.marks[end:], (*places, *word.places[end:]), word.written)


def _file(path: str) -> str | None:
    """The name of the blob at the path of a file."""
    return _blob(path) if is_file(path) else None


def _blob(path: str) -> str | None:
    """The name of the blob at a path as a file system reads it; None if no blob can have it."""
    name = posixpath.normpath(path.lstrip("/"))  # a file system of blobs has no links that ".." could follow
    possible = name != "." and not path.endswith(("/", "/.", "/..")) and len(name) <= _LONGEST_PATH
    return name if possible and not name_flaw(name) else None
