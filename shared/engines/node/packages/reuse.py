"""Environments that are kept for later jobs of the same team, by what they were made of.

Below a directory of the cluster, whose environments all its jobs can change: the app names one only where a
single team uses the cluster. One that no job may use any more goes when there is no room for another.
"""

import fcntl
import hashlib
import os
import re
import shutil
import site
import stat
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Dict, Iterator, List, NamedTuple, Optional, Set

from shared.engines.node.packages.environment import MARK, Environment

#: The most environments of a directory, and the part of its disk that stays free; where all are in use,
#: another job makes its own.
MOST, SPARE = 16, 0.1
#: Only lines of these kinds: others may say what only this job's folder or variables say. Of another list, of
#: the index and the like, and of a package, with versions, a marker and hashes.
_OTHERS = re.compile(r"(?:-r|-c|--requirement|--constraint)[=\s]*([^\s:$'\"-][^\s:$'\"]*)$")
_OPTION = (
    r"(?:--no-index|--pre|--prefer-binary|--require-hashes"
    r"|(?:-i|--(?:extra-)?index-url)[=\s]\s*https?:[^\s$]+)"
)
_PLAIN = re.compile(
    rf"{_OPTION}(?:\s+{_OPTION})*$"
    r"|(?!\S*\.(?:whl|zip|t[abglx]|gz|bz2|xz|lz))[A-Za-z0-9][\w.-]*\s*(?:\[[\w\s,.-]*\]\s*)?"
    r"(?:\(?[<>=!~][\w\s.,*+!<>=~]*\)?\s*)?"
    r"(?:;[\w\s.,<>=!~()'\"]*)?(?:\s*--hash[=\s]\s*\w+:[0-9a-f]+)*$",
    re.ASCII | re.IGNORECASE,
)
_COMMENT = re.compile(r"(?:^|\s)#.*$")
#: What is built here depends on variables of the job, and on what its node has.
_ONLY_WHEELS = ("--only-binary", ":all:")
#: The end of the name of a lock.
_LOCK = ".lock"
#: Variables of pip with which an environment is kept: they name no files. Files that say where packages come
#: from, and for which system they are.
_SETTINGS = re.compile(
    r"PIP_(?:(?:EXTRA_)?INDEX_URL|NO_INDEX|PRE|TRUSTED_HOST|PROXY|RETRIES|(?:DEFAULT_)?TIMEOUT|NO_CACHE_DIR"
    r"|DISABLE_PIP_VERSION_CHECK|NO_INPUT|ROOT_USER_ACTION|PROGRESS_BAR)$"
)
_FILES = ("/etc/pip.conf", "{HOME}/.config/pip/pip.conf", "{HOME}/.pip/pip.conf", "/etc/os-release")


class Reusable(NamedTuple):
    """An environment, and whether it was made now."""

    place: Path
    is_new: bool


def reusable(directory: Path, file: Path, values: Dict[str, str], until: float) -> Optional[Reusable]:
    """The environment of a file, made now if there is none; None if it is not one to keep.

    Raises as `Environment.make`. Nothing removes it before `until`.
    """
    # What a directory of the job has is not in the environment, nor what a variable names.
    values = {name: value for name, value in values.items() if not name.startswith("PYTHON")}
    key = key_of(file, values)
    if key is None or not _is_ours(directory):
        return None
    place = directory / key
    with _locked(place, "Another job installs the same packages: this one waits for them\n") as is_locked:
        if not is_locked:
            return None  # a file system without locks, on which two would make it at once
        mark = place / MARK
        is_new = not mark.exists()
        if is_new:
            if not _has_room(directory, place):
                return None
            try:
                Environment(place, file, values).make(_ONLY_WHEELS)
            except (OSError, subprocess.CalledProcessError):
                shutil.rmtree(str(place), ignore_errors=True)
                return None  # the job's own attempt says why, or builds it
        used = max(until, mark.stat().st_mtime)
        os.utime(str(mark), (used, used))
    return Reusable(place, is_new)


@contextmanager
def _locked(place: Path, words: str = "") -> Iterator[bool]:
    """Hold the lock of an environment, if it can be had; with `words`, which are said, it is waited for."""
    path = place.with_name(f"{place.name}{_LOCK}")
    while True:
        with path.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not words:
                    yield False
                    return
                sys.stdout.write(words)
                sys.stdout.flush()
                fcntl.flock(lock, fcntl.LOCK_EX)
            except OSError:
                yield False
                return
            if _is_at(lock, path):
                yield True
                return  # else another job has removed the environment with its lock meanwhile


def _is_at(lock: IO[str], path: Path) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.fstat(lock.fileno()), path.stat())
    return False


def key_of(file: Path, values: Dict[str, str]) -> Optional[str]:
    """The digest of all that an environment is made of; None if a part of it is this job's alone."""
    digest = hashlib.sha256()
    lists: Set[Path] = set()
    named = {name: value for name, value in values.items() if name.startswith("PIP_") and value != os.devnull}
    if not all(map(_SETTINGS.match, named)):
        return None
    if file.suffix != ".txt" or not _add(file, lists):
        return None
    parts = [f"{os.path.relpath(str(one), str(file.parent))}\0{one.read_bytes()!r}" for one in sorted(lists)]
    parts += [sys.version, sys.executable, sys.prefix, os.uname().sysname, os.uname().machine, *_installed()]
    parts += [f"{name}={value}" for name, value in sorted(values.items()) if name.startswith(("PIP_", "UV_"))]
    for name in (*_FILES, f"{sys.prefix}/pip.conf"):
        with suppress(OSError):
            parts.append(Path(name.format(HOME=values.get("HOME", ""))).read_text(errors="replace"))
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode(errors="surrogateescape"))
    return digest.hexdigest()


def _add(file: Path, lists: Set[Path]) -> bool:
    """Add a list, and those that it names; whether none of them says what is only this job's."""
    path = Path(os.path.normpath(str(file)))
    if path in lists:
        return True
    lists.add(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").replace("\\\n", " ").splitlines()
    except (OSError, ValueError):
        return False  # pip says more
    for line in (_COMMENT.sub("", one).strip() for one in lines):
        other = _OTHERS.match(line)
        if other:
            if not _add(path.parent / other.group(1), lists):
                return False
        elif line and not _PLAIN.match(line):
            return False
    return True


def _installed() -> Iterator[str]:
    """What the interpreter has already, which is not installed again."""
    for directory in (*sys.path, site.getusersitepackages()):
        with suppress(OSError):
            names = [
                one.name for one in Path(directory).iterdir()
            ]  # of the user, each job may have another home
            yield from (directory, *sorted(name for name in names if name.endswith(("-info", ".pth"))))


def _is_ours(directory: Path) -> bool:
    """Whether it is a directory that no other user of the node can write; it is made if it is missing."""
    with suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        state = directory.lstat()
        is_closed = stat.S_ISDIR(state.st_mode) and not state.st_mode & 0o022
        return is_closed and state.st_uid == os.geteuid() and os.access(str(directory), os.W_OK)
    return False


def _has_room(directory: Path, place: Path) -> bool:
    """Whether there is room for one more, after those have gone that no job may use any more."""
    names = {one.name.replace(_LOCK, "") for one in directory.iterdir()} - {place.name}
    others = sorted((directory / name for name in names), key=_until)
    for one in tuple(others):
        if one.exists() and (_fits(directory, others) or _until(one) >= time.time()):
            continue
        if _remove(one):
            others.remove(one)
    return _fits(directory, others)


def _fits(directory: Path, others: List[Path]) -> bool:
    disk = shutil.disk_usage(str(directory))
    return len(others) < MOST and disk.free > SPARE * disk.total


def _remove(place: Path) -> bool:
    """Remove an environment with its lock, unless a job makes it or may use it."""
    with _locked(place) as is_locked:
        if not is_locked or _until(place) >= time.time():
            return False
        with suppress(OSError):
            (place / MARK).unlink()  # first: what is left of it is not used
        shutil.rmtree(str(place), ignore_errors=True)
        if place.exists():
            return False
        place.with_name(f"{place.name}{_LOCK}").unlink()
    return True


def _until(place: Path) -> float:
    """Until when a job may use it; 0.0 for one that was not finished."""
    try:
        return (place / MARK).stat().st_mtime
    except OSError:
        return 0.0
