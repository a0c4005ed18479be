"""What of a folder becomes the code of a job: files, empty folders and links that stay inside, by name."""

from __future__ import annotations

import os
import stat
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from shared.core.visible import escaped
from shared.snapshots.pack import ENTRIES, order
from slipway.client.files.names import undecodable
from slipway.client.files.own_file import kind_of
from slipway.client.snapshot.ignore_file import NAME as IGNORE_FILE
from slipway.client.snapshot.links import refusal
from slipway.client.snapshot.members import folders_above
from slipway.client.snapshot.rules import Reason, Rules
from slipway.failure import Failure

#: A file that begins so is executed where the disk has no bit for it.
_PROGRAM = b"#!"


class File(NamedTuple):
    """A file: its path in the archive, where it is, and what its disk says of it."""

    name: str
    path: Path
    size: int
    #: nanoseconds of its last change
    modified: int
    executable: bool


@dataclass
class Tree:
    """The members of a folder, and what is not one of them, with the reason."""

    folder: Path
    files: list[File] = field(default_factory=list)
    #: the target of each link, relative to its folder
    links: dict[str, str] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    #: left out by the fixed list; without those that may be secrets
    usual: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    #: what cannot be sent, and why
    others: dict[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def largest(self, count: int) -> list[File]:
        """The largest files."""
        return sorted(self.files, key=lambda file: (-file.size, file.name))[:count]


def one_file(path: Path) -> Tree:
    """A script alone, as if its folder had nothing else."""
    tree = Tree(path.parent)
    tree.files.append(_file(path.name, path, path.stat()))
    return tree


def walk(folder: Path, most: int = ENTRIES) -> Tree:
    """The members of a folder. Raises Failure for too many, an unreadable folder, a name that is not text."""
    walk = _Walk(folder, Rules(folder), most)
    walk.run()
    tree = walk.tree
    tree.files.sort(key=lambda file: order(file.name))
    names = (*(file.name for file in tree.files), *tree.links, *walk.folders)
    above = {parent for name in names for parent in folders_above(name)}
    tree.empty = sorted(set(walk.folders) - above)
    return tree


class _Walk:
    """Goes through a folder, level by level, and follows no link."""

    def __init__(self, folder: Path, rules: Rules, most: int) -> None:
        self.tree, self.folders, self._rules, self._most = Tree(folder), list[str](), rules, most
        self._root = Path(os.path.realpath(folder))
        self._count = Counter[str]()

    def run(self) -> None:
        ahead = [""]
        while ahead:
            above = ahead.pop()
            for entry in self._entries(above):
                name = f"{above}{entry.name}"
                if flaw := undecodable(name):
                    raise _unsendable(name, flaw)
                is_folder = entry.is_dir(follow_symlinks=False)
                if reason := self._rules.reason(name, Path(entry.path), folder=is_folder):
                    self._leave_out(name, reason)
                elif is_folder:
                    ahead.append(f"{name}/")
                    self.folders.append(name)
                    self._counted(f"{name}/")
                else:
                    self._take(name, entry)

    def _entries(self, above: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.tree.folder / above) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            raise Failure(
                f"{self.tree.folder / above} cannot be read: {error.strerror}; name it in {IGNORE_FILE} to "
                "leave it out"
            ) from None

    def _take(self, name: str, entry: os.DirEntry[str]) -> None:
        if entry.is_symlink():
            self._link(name)
            return
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISREG(status.st_mode):
            self._counted(name)
            self.tree.files.append(_file(name, Path(entry.path), status))
        else:
            self.tree.others[name] = f"it is {kind_of(Path(entry.path))}"

    def _link(self, name: str) -> None:
        """A link to a member is one, too; another one is sent as the file that it leads to."""
        place = self.tree.folder / name
        try:
            real = Path(os.path.realpath(place, strict=True))
            status = real.stat()
        except OSError:
            self.tree.others[name] = "it is a link that leads nowhere"
            return
        is_folder, is_inside = stat.S_ISDIR(status.st_mode), real.is_relative_to(self._root)
        if not is_folder and not stat.S_ISREG(status.st_mode):
            self.tree.others[name] = f"it is a link to {kind_of(real)}"
        elif is_folder and not is_inside:
            self.tree.others[name] = "it is a link to a folder elsewhere; put the folder itself there"
        elif text := refusal(
            self._rules,
            self._root,
            name,
            real,
            lambda path: bool(self._rules.reasons(path, self._root, folder=is_folder)),
        ):
            self.tree.others[name] = text
        elif is_inside:
            self._counted(name)
            target = os.path.relpath(real, self._root / Path(name).parent)
            self.tree.links[name] = target.replace(os.sep, "/")
        else:
            self._counted(name)
            self.tree.files.append(_file(name, real, status))

    def _leave_out(self, name: str, reason: Reason) -> None:
        if reason != "own":
            (self.tree.secrets if reason == "secret" else self.tree.usual).append(name)

    def _counted(self, name: str) -> None:
        """Count a member. Raises Failure, with the folders that have most, beyond the limit."""
        top, slash, _ = name.partition("/")
        self._count[escaped(top) if slash else "the folder itself"] += 1
        if self._count.total() > self._most:
            most = ", ".join(f"{top} ({count:,})" for top, count in self._count.most_common(5))
            raise Failure(
                f"{self.tree.folder} has more than {self._most:,} files and folders, most of them in {most}; "
                f"name data in {IGNORE_FILE}, and put it where jobs mount it (slipway data put)"
            )


def _file(name: str, path: Path, status: os.stat_result) -> File:
    executable = bool(status.st_mode & 0o100)
    if os.name == "nt":
        with path.open("rb") as file:
            executable = file.read(2) == _PROGRAM
    return File(name, path, status.st_size, status.st_mtime_ns, executable)


def _unsendable(name: str, flaw: str) -> Failure:
    remedy = f"give it another name, or leave it out by a line of {IGNORE_FILE}"
    return Failure(f"{escaped(name)} cannot be sent: its name {flaw}; {remedy}")
