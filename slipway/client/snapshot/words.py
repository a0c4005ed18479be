"""What a person reads of the code that is sent: how much it is, and what stayed at home, with the remedy."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from shared.core.visible import escaped
from shared.snapshots.listing import as_text
from shared.snapshots.pack import MIB, Packed
from slipway.client.snapshot.ignore_file import NAME as IGNORE_FILE
from slipway.client.snapshot.not_files import EMPTY
from slipway.client.snapshot.pack import NAMED, size_of
from slipway.client.snapshot.walk import Tree
from slipway.terminal.characters import inked
from slipway.terminal.screen import say

#: Bytes of a folder from which on its largest files are named.
LARGE = 32 * MIB
_GIT_SECONDS = 10


Ignored = Callable[[Path, Sequence[str]], Collection[str]]


def ignored_by_git(folder: Path, names: Sequence[str]) -> set[str]:
    """Those of some files that git ignores; none without git."""
    command = ["git", "-C", str(folder), "check-ignore", "-z", "--stdin"]
    try:
        answer = subprocess.run(
            command, input="\0".join(names).encode(), capture_output=True, timeout=_GIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return set()
    return {*filter(None, answer.stdout.decode("utf-8", "replace").split("\0"))}


async def say_words(tree: Tree, packed: Packed) -> None:
    """Show the lines about a packed folder."""
    for line in await asyncio.to_thread(lambda: list(words(tree, packed))):
        say(line)


def words(tree: Tree, packed: Packed, ignored: Ignored = ignored_by_git) -> Iterator[str]:
    """The lines about a packed folder."""
    usual = f" (left out: {some(_names(tree.usual))})" if tree.usual else ""
    count = f"{packed.files:,} file{'' if packed.files == 1 else 's'}"
    yield f"packed {count}, {size_of(packed.bytes)}{usual}"
    if tree.secrets:
        yield f"left out: {some(tree.secrets)} (give secrets by --secret; {taken_back(tree.secrets[0])})"
    yield from of_others(tree.others)
    if packed.bytes > LARGE:
        yield from _of_large(tree, ignored)


def of_others(others: Mapping[str, str]) -> Iterator[str]:
    """What of a folder is not sent, with the reasons; empty folders in one line."""
    rest = [(name, reason) for name, reason in others.items() if reason != EMPTY]
    for name, reason in rest[:NAMED]:
        yield f"left out: {escaped(name)}: {reason}"
    if len(rest) > NAMED:
        yield f"left out: {len(rest) - NAMED:,} more links and files that cannot be sent"
    if empty := [name for name, reason in others.items() if reason == EMPTY]:
        yield f"left out: {some(empty)} (a container holds no empty folders)"


def _of_large(tree: Tree, ignored: Ignored) -> Iterator[str]:
    """The largest files, all of which are sent again after every change of the folder."""
    files = tree.largest(NAMED)
    of_git = ignored(tree.folder, [file.name for file in files])
    shown = (
        f"{escaped(file.name)} ({size_of(file.size)}{', ignored by git' if file.name in of_git else ''})"
        for file in files
    )
    yield (
        f"the largest files are {', '.join(shown)}; they are sent again when anything in the folder changes, "
        f"so name data in {IGNORE_FILE}, and put it where jobs mount it (slipway data put)"
    )


def _names(paths: Sequence[str]) -> list[str]:
    """The last names of paths, each once: a folder has many caches of one name."""
    return sorted({PurePosixPath(path).name for path in paths})


def taken_back(name: str) -> str:
    """How a file goes along that may be a secret."""
    return f"`!{escaped(name)}` in {IGNORE_FILE} takes it along"


def shown_name(name: str) -> str:
    """A name in the code of a job, as no other is shown."""
    return inked(as_text(name))


def some(names: Sequence[str]) -> str:
    """The first of these names, and how many others there are."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(map(escaped, names[:NAMED])) + more
