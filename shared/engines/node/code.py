"""Brings the code of a job to its node: fetched, compared with its digest, unpacked. It stands alone.

Its standard input says what to fetch: `address` or `file`, `sha256`, `bytes`, and `at`, the place. Nothing is
at the place before the digest has been compared.
"""

import fcntl
import hashlib
import http.client
import json
import os
import shutil
import sys
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, BinaryIO, Callable, Dict, NamedTuple
from urllib.parse import parse_qs, urlsplit

from shared.engines.node.unpack import CHUNK, UNPACKED, Hostile, put, unpack

#: The first word of the reason on the standard error; the run gets its end by it.
EXPIRED, DELETED, DIFFERENT, HOSTILE, FAILED = "expired", "deleted", "different", "hostile", "failed"
#: The exit code of each; those of `run.py` follow.
CODES = {EXPIRED: 244, DELETED: 245, DIFFERENT: 246, HOSTILE: 247, FAILED: 248}
#: Seconds: the timeout of an answer, for how long storage may be away, and the first and longest pause.
ANSWER, OUTAGE, PAUSE, LONGEST = 20.0, 240.0, 0.5, 10.0
#: Statuses that are tried again. 0 stands for no answer.
PASSING = (0, 408, 429, 500, 502, 503, 504)
#: How many times larger than its archive the code may be, if that is more than UNPACKED.
TIMES = 16
#: The lock of nodes that share their directory; it holds the digest of what is in place.
MARK = "code.in-place"


class NoCode(Exception):
    """The code is not on the node: one of the words above, and the reason, without the address."""

    def __init__(self, word: str, reason: str) -> None:
        super().__init__(f"{word}: {reason}")
        self.word = word


class Answer(NamedTuple):
    """How a source answered: a status of HTTP, 0 for none, and the word or the reason beside it."""

    status: int
    reason: str = ""


def bring(order: Dict[str, Any], temporary: Path, mounts: Path) -> None:
    """Fetch the archive and unpack it at its place. Raises NoCode, Hostile, and OSError of the disk."""
    with (temporary / MARK).open("a+") as mark:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(mark, fcntl.LOCK_EX)
        mark.seek(0)
        if mark.read() == order["sha256"]:
            return  # another node of the job, which has the same directory, was faster
        new = Path(tempfile.mkdtemp(prefix="code-", dir=str(temporary)))
        try:
            fetch(order, new / "archive")
            (new / "top").mkdir()
            with (new / "archive").open("rb") as file:
                unpack(file, new / "top", max(UNPACKED, TIMES * order["bytes"]))
            put(new / "top", _place(order["at"], temporary, mounts))
        finally:
            shutil.rmtree(str(new), ignore_errors=True)
        mark.write(order["sha256"])


def _place(at: str, temporary: Path, mounts: Path) -> Path:
    """Where the code goes: into no volume of the job."""
    if at == "work":
        return temporary / "wd"
    path = mounts
    for part in at.split("/"):
        path = path / part
        if part in ("", ".", "..") or path.is_symlink():
            raise Hostile(f"$AZ_BATCHAI_JOB_MOUNT_ROOT/{at} is in a volume of the job, where no code belongs")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def fetch(order: Dict[str, Any], archive: Path, outage: float = OUTAGE) -> None:
    """Write the very bytes of the digest into the file. Raises NoCode, and OSError of the disk."""
    until, pause = time.time() + outage, PAUSE
    while True:
        digest = hashlib.sha256()
        with archive.open("wb") as file:
            answer = _fetched(order, file, digest)
        if answer.status not in PASSING or time.time() + pause > until:
            break
        time.sleep(pause)
        pause = min(2 * pause, LONGEST)
    if answer.status != 200:
        raise _no_code(answer, order.get("address", ""))
    size = archive.stat().st_size
    if (size, digest.hexdigest()) != (order["bytes"], order["sha256"]):
        text = "what storage has is not the code that was accepted: {} bytes, sha256 {}; accepted {}, {}"
        words = (size, digest.hexdigest(), order["bytes"], order["sha256"])
        raise NoCode(DIFFERENT, text.format(*words))


def _fetched(order: Dict[str, Any], file: BinaryIO, digest: Any) -> Answer:
    """Copy what a source has; of more than there should be, one byte."""
    most = order["bytes"] + 1

    def copy(read: Callable[[int], bytes]) -> int:
        remaining = most
        while remaining:
            data = read(min(CHUNK, remaining))
            if not data:
                break
            digest.update(data)
            try:
                file.write(data)
            except OSError as error:
                raise NoCode(FAILED, f"its code could not be written: {error.strerror}") from None
            remaining -= len(data)
        return int(most - remaining)

    return _from_directory(order["file"], copy) if order.get("file") else _from_storage(order, copy, most)


def _from_directory(path: str, copy: Callable[[Callable[[int], bytes]], int]) -> Answer:
    """Copy a file of the directory that the cluster's `mounts` names for the container of code.

    If nothing is there at all, it is not mounted on this node, and no code was deleted.
    """
    directory = Path(path).parent.parent
    try:
        with Path(path).open("rb") as source:
            copy(source.read)
    except FileNotFoundError:
        with suppress(OSError):
            if any(directory.iterdir()):
                return Answer(404)
        raise NoCode(FAILED, f"the container of code is not mounted at {directory}") from None
    except OSError as error:
        raise NoCode(FAILED, f"its code could not be read from {directory}: {error.strerror}") from None
    return Answer(200)


def _from_storage(order: Dict[str, Any], copy: Callable[[Callable[[int], bytes]], int], most: int) -> Answer:
    """By HTTP, straight to its host: no proxy of the job's environment sees the signature."""
    parts = urlsplit(order["address"])
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    try:
        with closing(kind(parts.hostname or "", parts.port, timeout=ANSWER)) as connection:
            connection.request("GET", f"{parts.path}?{parts.query}", headers={"x-ms-version": "2021-12-02"})
            answer = connection.getresponse()
            if answer.status != 200:
                return Answer(answer.status, answer.getheader("x-ms-error-code") or "")
            size = copy(answer.read)
            if size < min(int(answer.getheader("content-length") or 0), most):
                return Answer(0, "(the connection was closed)")
    except http.client.HTTPException:
        return Answer(0, "(the response cannot be read)")
    except OSError as error:
        return Answer(0, f"({error.strerror or 'the connection was closed or timed out'})")
    return Answer(200)


def _no_code(answer: Answer, address: str) -> NoCode:
    if answer.status == 404:
        return NoCode(DELETED, "its code was deleted")
    if answer.status == 403 and (answer.reason == "AuthenticationFailed" or _is_over(address)):
        return NoCode(EXPIRED, "the address of its code is no longer valid")
    words = f"{answer.status or 'no answer'} {answer.reason}".rstrip()
    return NoCode(FAILED, f"its code could not be fetched from storage: {words}")


def _is_over(address: str) -> bool:
    """Whether the time of a signature has passed, by the clock of this node."""
    end = "".join(parse_qs(urlsplit(address).query).get("se", ()))
    return bool(end) and end <= time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def main(environment: Dict[str, str]) -> int:
    """Bring what the standard input says; prints the reason if it cannot be had, and returns its code."""
    order = json.loads(sys.stdin.read())
    temporary, mounts = environment["AZ_BATCHAI_JOB_TEMP"], environment["AZ_BATCHAI_JOB_MOUNT_ROOT"]
    try:
        bring(order, Path(temporary), Path(mounts))
    except (NoCode, Hostile, OSError) as error:
        if isinstance(error, OSError):
            error = NoCode(FAILED, f"its code could not be unpacked: {error.strerror}")
        elif isinstance(error, Hostile):
            error = NoCode(HOSTILE, str(error))
        sys.stderr.write(f"{error} (on {os.uname()[1]})\n")
        return CODES[error.word]
    return 0


if __name__ == "__main__":
    sys.exit(main(dict(os.environ)))
