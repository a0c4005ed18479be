"""The first process of a pod: makes its root, takes its rights, and becomes the command.

A program of its own (standard library only), run by `unshare` in namespaces of its own as `python -I -S`,
with an order in JSON on standard input, and the number of a pipe, into which it writes a byte once it can be
asked to end, and another once it is in its root. The root has everything of this machine, and the volumes of
the pod at their places: a directory in which a place is missing is replaced by one of the pod's own with the
same entries, so that nothing is made on this machine.
"""

import contextlib
import ctypes
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

_LIBC = ctypes.CDLL(None, use_errno=True)
_BIND, _REC, _REMOUNT, _READ_ONLY, _UNBINDABLE = 4096, 16384, 32, 1, 1 << 17
_NO_NEW_PRIVILEGES, _SIGNAL_AT_END_OF_PARENT = 38, 1
#: Options of a mount that may not be lost where it becomes read-only.
_OPTIONS = {os.ST_NOSUID: 2, os.ST_NODEV: 4, os.ST_NOEXEC: 8, os.ST_NOATIME: 1024, os.ST_RELATIME: 1 << 21}
_LIKE_A_ROOT = 0o755
#: As a shell has it for a command that is not there.
_NOT_STARTED = 127
_ENDED = 128 + signal.SIGTERM


def main() -> None:
    """Carry out the order."""
    # The first process of a namespace gets only the signals that it handles.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(_ENDED))
    ready = int(sys.argv[1])
    os.set_inheritable(ready, False)
    os.write(ready, b"1")  # says that it does
    order = json.loads(sys.stdin.buffer.read())
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        socket.sethostname(order["hostname"])
        mounts = [(Path(place).resolve(), Path(origin), rest) for place, origin, rest in order["mounts"]]
        _enter(Path(order["root"]), mounts)
        os.umask(0o022)
        _take_rights(order)
        os.chdir(order["directory"] or "/")
        os.write(ready, b"1")
        os.execvpe(order["argv"][0], order["argv"], order["environment"])  # noqa: S606 - no shell
    except OSError as error:
        sys.stderr.write(f"{error.filename or order['argv'][0]}: {error.strerror}\n")
        sys.exit(_NOT_STARTED)


def _enter(root: Path, mounts: list[tuple[Path, Path, bool]]) -> None:
    """Make the root, and go into it. Each mount has a place, an origin and whether it is read-only."""
    _mount("tmpfs", root, "tmpfs")
    _mount(None, root, None, _UNBINDABLE)  # or what has this folder in it would have it again
    root.chmod(_LIKE_A_ROOT)
    _copy(root, Path("/"), {folder for place, *_ in mounts for folder in _opened(place)})
    for place, origin, is_read_only in sorted(mounts):
        at = _target(root, place)
        if origin.is_dir():
            at.mkdir(parents=True, exist_ok=True)
        else:
            at.parent.mkdir(parents=True, exist_ok=True)
            at.touch()
        _mount(origin, at, None, _BIND | _REC)
        if is_read_only:
            flags = os.statvfs(at).f_flag
            options = sum(flag for bit, flag in _OPTIONS.items() if flags & bit)
            _mount(None, at, None, _BIND | _REMOUNT | _READ_ONLY | options)
    os.chroot(root)
    os.chdir("/")


def _opened(place: Path) -> list[Path]:
    """The directories that need entries of the pod's own so that the place can be made."""
    return [] if place.exists() else [parent for parent in place.parents if parent.is_dir()]


def _target(root: Path, path: Path) -> Path:
    return root / path.relative_to("/")


def _copy(root: Path, folder: Path, opened: set[Path]) -> None:
    """The entries of a directory: themselves, or where they are opened, their entries."""
    for entry in folder.iterdir():
        target = _target(root, entry)
        # Entries come and go, and some belong to others: the pod lacks what cannot be had.
        with contextlib.suppress(OSError):
            if entry.is_symlink():
                target.symlink_to(entry.readlink())
            elif not entry.is_dir():
                target.touch()
                _mount(entry, target, None, _BIND)
            elif entry in opened:
                target.mkdir()
                target.chmod(entry.stat().st_mode & 0o7777)
                _copy(root, entry, opened)
            else:
                target.mkdir()
                _mount(entry, target, None, _BIND | _REC)


def _take_rights(order: dict[str, Any]) -> None:
    """The user and groups of the pod, where this machine lets us choose them."""
    if order["mayChoose"]:
        if order["group"] is not None:
            os.setgid(order["group"])
        os.setgroups([order["fsGroup"]] if order["fsGroup"] is not None else [])
        if order["user"] is not None:
            os.setuid(order["user"])
        # Another user's process has lost the signal by which it ends with its node.
        _LIBC.prctl(_SIGNAL_AT_END_OF_PARENT, signal.SIGKILL, 0, 0, 0)
    if not order["mayGain"]:
        _LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)


def _mount(origin: Path | str | None, at: Path, kind: str | None, flags: int = 0) -> None:
    def packed(text: Path | str | None) -> bytes | None:
        return None if text is None else os.fsencode(text)

    if _LIBC.mount(packed(origin), packed(at), packed(kind), ctypes.c_ulong(flags), None):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(at))


if __name__ == "__main__":
    main()
