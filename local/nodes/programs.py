"""The programs that mount volumes, for nodes that are directories of this machine and may mount nothing.

`mount.cifs`, `blobfuse2` and `umount`, as the program on the nodes calls them: a volume is a link where its
mount point was. Shares are directories; a container is copied, and back until it is unmounted.
"""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from confined.removal import remove
from local.nodes.settings import Account, account

_NAMES = ("mount.cifs", "blobfuse2", "umount")
_ROOT = Path(__file__).resolve().parents[2]
_SHARE = re.compile(r"//([a-z0-9-]+)\.file\.[^/]+/([^/]+)/?(.*)")
#: Files: the connection string of the account, and the number of the process that follows a container.
_STORAGE, _FOLLOWER = "storage", "follower"
_READY = "ready"
#: Seconds between two looks for changes, and for the last of them to be copied.
_EVERY, _LAST = 1.0, 60.0


def install(folder: Path, connection_string: str) -> Path:
    """Put the programs into a folder, for PATH, and say where shares are: `shares/ACCOUNT/NAME` there."""
    (folder / "shares").mkdir(parents=True, exist_ok=True)
    (folder / "bin").mkdir(exist_ok=True)
    setting = folder / _STORAGE
    setting.touch(mode=0o600)
    setting.write_text(connection_string)
    for name in _NAMES:
        program = folder / "bin" / name
        words = f'{sys.executable} -m local.nodes.programs {folder} {name} "$@"'
        program.write_text(f"#!/bin/sh\ncd {_ROOT} && exec {words}\n")
        program.chmod(0o755)
    return folder / "bin"


def _share(folder: Path, owner: Account, words: list[str]) -> str:
    source, point, options = words[0], Path(words[1]), words[3]
    file = next(one for one in options.split(",") if one.startswith("credentials=")).partition("=")[2]
    credentials = dict(line.split("=", 1) for line in Path(file).read_text().splitlines())
    match = _SHARE.fullmatch(source)
    if match is None or (match[1], credentials["password"]) != (owner.name, owner.key):
        return "mount error(13): Permission denied"
    root = folder / "shares" / match[1] / match[2]
    try:
        directory = (root / match[3]).resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: links in a circle, before Python 3.13
        directory = None
    if directory is None or not directory.is_dir() or not directory.is_relative_to(root.resolve()):
        return f"mount error(2): No such file or directory: this machine has no {root / match[3]}"
    _link(point, directory)
    return ""


def _container(folder: Path, owner: Account, words: list[str]) -> str:
    whole = json.loads(Path(words[2].partition("=")[2]).read_text())
    config = whole["azstorage"]
    if config["account-name"] != owner.name or config.get("account-key", owner.key) != owner.key:
        return "Error: failed to authenticate credentials for azstorage"
    (folder / "containers").mkdir(exist_ok=True)
    root = Path(tempfile.mkdtemp(dir=folder / "containers"))
    words_of_follower = ("follow", str(root), config["container"])
    way = {"sas": config.get("sas", ""), "readOnly": whole["read-only"]}
    follower = subprocess.Popen(
        [sys.executable, "-m", "local.nodes.programs", str(folder), *words_of_follower],
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    if follower.stdin:
        with follower.stdin as stdin:
            stdin.write(json.dumps(way))
    trouble = (follower.stdout.readline() if follower.stdout else "").strip()
    if trouble != _READY:
        return f"Error: {trouble or 'the container cannot be read'}"
    (root / _FOLLOWER).write_text(str(follower.pid))
    if not _link(Path(words[1]), root / "files"):
        _end(root)
    return ""


async def _follow(owner: Account, root: Path, container: str, sas: str, *, read_only: bool) -> None:
    """Copy a container here, and write changes back until the volume is unmounted; then the rest.

    `sas`: what opens the container; "" for the key of the account.
    """
    from azure.storage.blob.aio import ContainerClient  # slow to load, and needed only here

    from local.mirror import Mirror, MirrorError

    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    credential = sas or {"account_name": owner.name, "account_key": owner.key}
    mirror = Mirror(root, ContainerClient(owner.blob_endpoint, container, credential=credential))
    try:
        await mirror.pull()
        sys.stdout.write(f"{_READY}\n")
        sys.stdout.flush()
        while not ended.is_set():
            with suppress(MirrorError):
                await (asyncio.sleep(0) if read_only else mirror.push())
            with suppress(TimeoutError):
                async with asyncio.timeout(_EVERY):
                    await ended.wait()
        if not read_only:
            await mirror.push()
        remove(root)  # not before everything is written back
    except MirrorError as error:
        sys.stdout.write(f"{error}\n")
    finally:
        await mirror.close()


def _unmount(folder: Path, words: list[str]) -> str:
    point = Path(words[-1])
    if not point.is_symlink():
        return f"umount: {point}: not mounted."
    root = point.readlink().parent
    point.unlink()
    if root.parent == folder / "containers":
        _end(root)
    return ""


def _end(root: Path) -> None:
    """Wait until the last changes of a container are written back, and its copy is removed."""
    with suppress(FileNotFoundError, ProcessLookupError):
        follower = int((root / _FOLLOWER).read_text())
        os.kill(follower, signal.SIGTERM)
        until = time.monotonic() + _LAST
        while time.monotonic() < until and _is_alive(follower):
            time.sleep(0.05)


def _is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _link(point: Path, directory: Path) -> bool:
    """Replace an empty directory by a link; False if another node of this machine already did."""
    with suppress(FileNotFoundError, NotADirectoryError):
        point.rmdir()
    try:
        point.symlink_to(directory)
    except FileExistsError:
        return False
    return True


def main(words: list[str]) -> int:
    """Run the program of this name. An error gives exit code 32, as with mount, and one line of reason."""
    folder, name, *rest = Path(words[0]), *words[1:]
    owner = account((folder / _STORAGE).read_text())
    if name == "follow":
        way = json.load(sys.stdin)
        asyncio.run(_follow(owner, Path(rest[0]), rest[1], way["sas"], read_only=way["readOnly"]))
        return 0
    if name == "umount":
        trouble = _unmount(folder, rest)
    else:
        trouble = (_share if name == "mount.cifs" else _container)(folder, owner, rest)
    if trouble:
        sys.stderr.write(f"{trouble}\n")
    return 32 if trouble else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
