"""What of an output directory is uploaded: its files, those behind links, and empty folders."""

import errno
import os
import stat
from pathlib import Path
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

#: How many links to folders are followed below one directory: each copies what it leads to.
FOLLOWED = 100
_KINDS = {stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}
_FILE, _FOLDER, _LINK = "file", "folder", "link"
#: The kinds of entries that are not uploaded, as the app lists them, and why.
REASONS = {
    "pipe": "it is a pipe",
    "socket": "it is a socket",
    "device": "it is a device",
    "out": "it is a link that leads out of the job's folder",
    "nowhere": "it is a link that leads nowhere",
    "special": "it is a link to a pipe, a socket or a device",
    "above": "it is a link to a folder above it",
    "unkept": f"more than {FOLLOWED} links to folders are not followed",
}


class LeftOut(NamedTuple):
    """Why an entry is not uploaded."""

    kind: str
    reason: str


class KeptFile(NamedTuple):
    """A file by its real path, and its name in the directory; an empty folder has no path."""

    path: str
    name: str


class Walk:
    """Goes through one directory of a run. What is not uploaded goes to `left_out`, with its kind.

    `why_not` says of a name why no blob can have it: such an entry is of the kind `unkept`, with that reason.
    `roots`: the real paths of all directories of the run: links to what is in them are followed. What cannot
    be read goes to `errors`.
    """

    def __init__(
        self,
        roots: Sequence[str],
        why_not: Callable[[str, bool], str],
        left_out: Dict[str, LeftOut],
        errors: List[OSError],
    ) -> None:
        self._roots, self._why_not, self._left_out, self._errors = roots, why_not, left_out, errors
        self._followed = 0

    def entries(self, root: str) -> Iterator[KeptFile]:
        """The files of the directory, and its empty folders."""
        waiting = [(os.path.realpath(root), "", ())]  # type: List[Tuple[str, str, Tuple[str, ...]]]
        while waiting:
            folder, inside, above = waiting.pop()
            listed = _kinds_in(folder, self._errors)
            if inside and listed == []:
                yield KeptFile("", inside)
            for name, is_a in listed or ():
                at, is_link = f"{inside}/{name}" if inside else name, is_a == _LINK
                path = f"{folder}/{name}"
                path, kind = self._target_of(path, (*above, folder)) if is_link else (path, is_a)
                flaw = self._why_not(at, kind == _FOLDER)
                if kind in REASONS:
                    self._left_out[at] = LeftOut(kind, REASONS[kind])
                elif flaw:
                    self._left_out[at] = LeftOut("unkept", flaw)
                elif kind == _FOLDER:
                    waiting.append((path, at, (*above, folder)))
                else:
                    yield KeptFile(path, at)

    def _target_of(self, path: str, above: Sequence[str]) -> Tuple[str, str]:
        """What a link leads to, and its kind: one of REASONS, if it is not followed."""
        real = os.path.realpath(path)
        try:
            mode = Path(real).stat().st_mode
        except OSError as error:
            is_lost = error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
            return real, "nowhere" if is_lost else "out"
        if not any(f"{real}/".startswith(f"{root}/") for root in self._roots):
            return real, "out"
        if stat.S_ISREG(mode):
            return real, _FILE
        if not stat.S_ISDIR(mode):
            return real, "special"
        if real in above:
            return real, "above"
        self._followed += 1
        if self._followed > FOLLOWED:
            return real, "unkept"
        return real, _FOLDER


def _kinds_in(folder: str, errors: List[OSError]) -> Optional[List[Tuple[str, str]]]:
    """The names in a folder with their kinds; None if it is gone or cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [(one.name, _kind_of(one)) for one in entries]
    except FileNotFoundError:
        return None
    except OSError as error:
        errors.append(error)
        return None


def _kind_of(entry: "os.DirEntry[str]") -> str:
    if entry.is_symlink():
        return _LINK
    if entry.is_dir(follow_symlinks=False):
        return _FOLDER
    if entry.is_file(follow_symlinks=False):
        return _FILE
    try:
        mode = entry.stat(follow_symlinks=False).st_mode
    except OSError:
        return _FILE  # deleted since, which is found out where it is opened
    return _KINDS.get(stat.S_IFMT(mode), "device")
