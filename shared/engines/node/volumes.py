"""Mounts a job's volumes on its node, and unmounts them: `mount`, and `unmount` with the directory of a run.

Shares are mounted by cifs, containers by blobfuse2, file servers by NFS, others by the command of the job. A
key is in no command line and in no environment. The volumes are the standard input of this program; until one
is mounted, its key is in a file that only its user can read.
"""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List

from shared.engines.node.private import private_input

#: The variable with the id of the node.
NODE = "SLIPWAY_NODE"
#: Mounts are beside the directory of a run, so that removing the directory can never remove a file of a
#: volume.
SUFFIX = ".mounts"
#: Seconds that mounting one volume may take.
PATIENCE = 120.0
#: Program → the package that contains it.
PACKAGES = {"mount.cifs": "cifs-utils", "blobfuse2": "blobfuse2", "mount.nfs": "nfs-common"}
#: The whole environment of a mount program; it gets no other variables of the node or the job.
INHERITED = ("PATH", "HOME", "LANG")
#: The escapes for a space, a tab, a line feed and a backslash in the kernel's list of mounts.
_OCTAL = re.compile(r"\\([0-7]{3})")


class Unmounted(Exception):
    """A volume could not be mounted: the reason, which holds no key."""


def mount(volumes: List[Dict[str, Any]], root: Path, node: str) -> None:
    """Mount each volume below the root, under its number.

    Raises Unmounted with the name, the reason and a remedy.
    """
    if not volumes:
        return
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    for at in (root.parent.parent, root.parent, root):
        if at.stat().st_uid not in (0, os.geteuid()):
            raise Unmounted(f"{at} on {os.uname()[1]} belongs to another user")
    (root / f"node-{node}").touch()
    for number, volume in enumerate(volumes):
        point = root / str(number)
        if point.is_symlink() or str(point) in points_of(root):
            continue  # mounted by an earlier try
        point.mkdir(exist_ok=True)
        try:
            _mount(volume, point)
        except Unmounted as error:
            text = "{} could not be mounted at $AZ_BATCHAI_JOB_MOUNT_ROOT/{} on {}: {}; {}"
            words = (volume["label"], volume["at"], os.uname()[1], error, volume["remedy"])
            raise Unmounted(text.format(*words)) from None


def _mount(volume: Dict[str, Any], point: Path) -> None:
    secret = ""
    try:
        if volume["kind"] == "command":
            _call(["bash", "-c", volume["command"] + ' "$0"', str(point)])
        elif volume["kind"] == "server":
            options = ["-o", volume["options"]] if volume["options"] else []
            _call(["mount.nfs", volume["source"], str(point), *options])
        elif volume["kind"] == "share":
            if not volume["key"]:
                raise Unmounted("no key of its account is known")
            secret = _secret(point, "", "username={}\npassword={}\n".format(volume["account"], volume["key"]))
            options = ["-o", f"credentials={secret},{volume['options']}"]
            _call(["mount.cifs", volume["source"], str(point), *options], volume["key"])
        else:
            cache = point.with_name(point.name + ".cache")
            cache.mkdir(mode=0o700, exist_ok=True)
            config = dict(volume["config"], file_cache=dict(volume["config"]["file_cache"], path=str(cache)))
            secret = _secret(point, ".yaml", json.dumps(config))  # JSON is valid YAML
            storage = config["azstorage"]
            key = str(storage.get("sas") or storage.get("account-key") or "")
            _call(["blobfuse2", "mount", str(point), f"--config-file={secret}"], key)
    finally:
        if secret:
            Path(secret).unlink()


def _secret(point: Path, suffix: str, text: str) -> str:
    """Write a file that only its user can read."""
    descriptor, name = tempfile.mkstemp(suffix, "secret-", str(point.parent))
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    return name


def _call(argv: List[str], secret: str = "") -> None:
    """Run a program to its end; a process that it leaves behind may keep its output open.

    Raises Unmounted.
    """
    if shutil.which(argv[0]) is None:
        package = PACKAGES.get(argv[0], argv[0])
        raise Unmounted(f"there is no {argv[0]}: install {package}, in the start task or the image")
    env = {name: os.environ[name] for name in INHERITED if name in os.environ}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            argv,
            env=env,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            raise Unmounted(f"no answer in {int(PATIENCE)} s") from None
        if code:
            output.seek(0)
            raise Unmounted(_reason(output.read(65536).decode("utf-8", "replace"), secret, code))


def _reason(text: str, secret: str, code: int) -> str:
    """The last line of a program's output, with keys masked."""
    if secret:
        text = text.replace(secret, "***")
    lines = ["".join(c for c in line if c.isprintable()).strip() for line in text.splitlines()]
    # mount.cifs ends with a pointer to its documentation.
    lines = [line for line in lines if line and not line.startswith("Refer to ")]
    return lines[-1][:300].rstrip(".") if lines else f"exit code {code}"


def points_of(root: Path) -> List[str]:
    """The mounts below a directory, the deepest first, also those that do not answer any more."""
    points = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        point = _OCTAL.sub(lambda match: chr(int(match.group(1), 8)), line.split()[4])
        if point.startswith(f"{root}/"):
            points.append(point)
    return sorted(points, key=len, reverse=True)


def unmount(root: Path) -> bool:
    """Unmount everything below the root, and remove the root; returns whether nothing is left."""
    entries = list(root.iterdir()) if root.is_dir() else []
    linked = [str(entry) for entry in entries if entry.is_symlink()]  # the way in which an emulator mounts
    release(points_of(root) + linked)
    if points_of(root):
        return False
    for entry in entries:
        if entry.name.endswith(".cache") and not entry.is_symlink():
            _quiet(["rm", "-rf", "--", str(entry)])
        elif stat.S_ISREG(entry.lstat().st_mode if os.path.lexists(str(entry)) else 0):
            entry.unlink()
        elif entry.is_dir() and not entry.is_symlink():
            _quiet(["rmdir", str(entry)])
    return not root.is_dir() or not _quiet(["rmdir", str(root)])


def release(points: List[str]) -> None:
    """Unmount each; one that is still in use is detached, so that no new process sees it."""
    for point in points:
        if _quiet(["umount", point]):
            _quiet(["umount", "-l", point])


def _quiet(argv: List[str]) -> int:
    try:
        return subprocess.call(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/"
        )
    except OSError:
        return 127


def leftovers(root: Path, node: str) -> List[Path]:
    """The mounts of other runs on this node, which were killed: a node has one at a time."""
    others = root.parent.parent.glob("*/*" + SUFFIX)
    return [other for other in others if other != root and (other / f"node-{node}").is_file()]


def main(words: List[str]) -> int:
    """`mount` or `unmount`; returns 1 and prints the reason if it fails."""
    root, node = Path(words[1] + SUFFIX), os.environ.get(NODE, "")
    if words[0] == "unmount":
        release(points_of(Path(words[1])))  # mounts that the job has made itself
        return 0 if unmount(root) else 1
    for other in leftovers(root, node):
        unmount(other)
    try:
        mount(json.loads(private_input() or "[]"), root, node)
    except (Unmounted, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
