"""A job of one team that wants what a running job of another has, takes it, and says what it got.

This file is the job's program, so it imports nothing of ours. It knows one word that the other job was given
as a secret, and one that it printed, and looks for them as any job could: in `/proc`, and beside its own
directories. Then it acts, on that job alone: it adds a line to its log, writes that it ended well, also
into the container that a token of its node's identity opens, and ends its processes.
"""

import base64
import json
import os
import re
import signal
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

#: Its own directories, which lie beside those of other jobs.
_OWN = ("AZ_BATCHAI_STDOUTERR_DIR", "AZ_BATCHAI_SHARED_JOB_TEMP", "AZ_BATCHAI_JOB_TEMP")
#: What opens a container, a share, or another node.
_KEYS = (b"SLIPWAY_PLAN=", b"SLIPWAY_PROOFS=", b"SLIPWAY_VOLUMES=", b"SLIPWAY_KEEP=", b"sig=", b"account-key")
#: The directory of a worker of the tests.
_WORKER = re.compile(rb"/pytest-\d+/(?:popen-gw\d+/)?")
#: Seconds between two looks, and how many there are: the other job may not have begun yet.
_EVERY, _LOOKS = 0.5, 60


#: Seconds after which a program that believes a record has ended its run.
_NOTICED = 7.0

#: The line that it adds to the other job's log.
MARK = "the other team was here"


def intruding(secret: str, printed: str, name: str, identity: str = "") -> str:
    """The command of a job that runs this program against the job of that name.

    `identity`: the address of a container with a signature, for what the identity of its node opens.
    """
    program = base64.b64encode(Path(__file__).read_bytes()).decode()
    # Half of each word: this command is itself in an environment.
    words = " ".join(f"{word[:8]} {word[8:]}" for word in (secret, printed, name))
    opened = base64.b64encode(identity.encode()).decode()
    return f"echo {program} | base64 -d >intruder.py && python3 intruder.py {words} {opened}"


def _environments() -> Iterator[tuple[int, bytes]]:
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            yield int(entry.parent.name), entry.read_bytes()


def _signal(process: int, number: int = 0) -> bool:
    with suppress(OSError):
        os.kill(process, number)
        return True
    return False


def _files(name: str) -> Iterator[Path]:
    """The files of the other job, which bear its name in their paths."""
    for variable in _OWN:
        path = Path(os.environ.get(variable) or "/nowhere/at/all/x")
        for above in path.parents[:4]:
            with suppress(OSError):
                yield from (one for one in (above / name).rglob("*") if one.is_file())


class Theirs:
    """What is within reach of the other job."""

    def __init__(self, secret: str, printed: str, name: str, identity: str) -> None:
        processes = [(number, text) for number, text in _environments() if b"AZ_BATCHAI" in text]
        self.processes = [number for number, text in processes if secret.encode() in text]
        files = list(_files(name))
        self.logs = [path for path in files if path.name == "stdout.txt" and printed in path.read_text()]
        self.attempts = [path.parent for path in files if path.name == "claim.json"]
        self.container = Container(identity, name) if identity else None

    def legible(self) -> dict[str, bool]:
        """What can be read."""
        return {"environ": bool(self.processes), "output": bool(self.logs)}

    def acted(self) -> dict[str, bool]:
        """What could be done to it."""
        written = [_append(path) for path in self.logs]
        for path in self.attempts:
            _forge(path)
        if self.container:
            self.container.forge()
        time.sleep(_NOTICED)
        ended = [_signal(one, signal.SIGTERM) for one in self.processes]
        # Those that cannot be signalled have ended, by what was written.
        return {"signal": any(ended), "write": any(written), "record": not any(ended)}


def _append(path: Path) -> bool:
    with suppress(OSError):
        with path.open("a") as log:
            log.write(f"{MARK}\n")
        return MARK in path.read_text()
    return False


def _record(token: str, run: str) -> dict[str, Any]:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    result = {"state": "ended", "reason": "", "message": "", "final": True, "code": 0, "exitCode": 0}
    return {"version": 1, "token": token, "run": run, "started": now, "ended": now, **result}


def _forge(attempt: Path) -> None:
    """Write that the other job ended well, as its own program would."""
    with suppress(OSError, ValueError, KeyError):
        claim = json.loads((attempt / "claim.json").read_text())
        result = attempt / claim["run"] / "result.json"
        record = {**json.loads(result.read_text()), **_record(claim["token"], claim["run"])}
        turns = attempt / "turns"
        last = max(int(one.name) for one in turns.iterdir())
        (turns / str(last + 1)).write_text(json.dumps({"token": claim["token"], "ended": record}))
        result.write_text(json.dumps(record))


class Container:
    """The records of the other job in the container of its cluster."""

    def __init__(self, address: str, name: str) -> None:
        self._address, _, self._signature = address.partition("?")
        self._name = name

    def forge(self) -> None:
        """Write that the other job ended well, as its own program would, and ask it to end."""
        for name in self._names():
            attempt, _, rest = name.rpartition("/turns/")
            if rest.isdigit():
                written = json.loads(self._call("GET", name))
                forged = {"token": written.get("token"), "ended": _record(str(written.get("token")), "x")}
                self._call("PUT", f"{attempt}/turns/{int(rest) + 1}", forged)
                self._call("PUT", f"{attempt}/asked", {"asked": time.time()})
            elif name.endswith("/result.json"):
                record = json.loads(self._call("GET", name))
                forged = {**record, **_record(record["token"], record["run"])}
                self._call("PUT", name, forged)

    def _names(self) -> list[str]:
        listed = self._call("GET", "", query="restype=container&comp=list&").decode()
        return [one for one in re.findall("<Name>([^<]*)</Name>", listed) if f"/{self._name}" in one]

    def _call(self, method: str, name: str, body: dict[str, Any] | None = None, query: str = "") -> bytes:
        headers = {"x-ms-blob-type": "BlockBlob", "x-ms-version": "2021-12-02"}
        url = f"{self._address}{'/' if name else ''}{name}?{query}{self._signature}"
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(url, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return bytes(answer.read())


def _exposed() -> frozenset[int]:
    """The processes in whose environments keys are."""
    environments = _environments_of_nodes()
    return frozenset(number for number, text in environments if any(word in text for word in _KEYS))


def _environments_of_nodes() -> Iterator[tuple[int, bytes]]:
    """Those of programs on nodes: this machine may run other things, which no node would.

    Clusters of other workers of the tests are such things, too.
    """
    marks = (b"AZ_BATCH", b"SLURM_JOB_ID=", b"SLIPWAY_HOME=", b"SLIPWAY_TOKEN=")
    own = {*_WORKER.findall(b"\0".join(os.environb.values()))}
    for number, text in _environments():
        workers = {*_WORKER.findall(text)}
        if any(mark in text for mark in marks) and not (own and workers and own.isdisjoint(workers)):
            yield number, text


def main() -> None:
    """Look until the other job is there, act, and say what was within reach.

    A program that starts anew without its keys has them for a moment: keys count that stay for two looks.
    """
    words = sys.argv[1:]
    secret, printed, name = ("".join(words[at : at + 2]) for at in (0, 2, 4))
    identity = base64.b64decode("".join(words[6:])).decode()
    reached, before = dict[str, bool](), _exposed()
    for _ in range(_LOOKS):
        time.sleep(_EVERY)
        exposed = _exposed()
        theirs = Theirs(secret, printed, name, identity)
        now = {**theirs.legible(), "keys": bool(exposed & before)}
        before = exposed
        reached = {probe: now[probe] or reached.get(probe, False) for probe in now}
        if reached["environ"] and reached["output"]:
            break
    reached.update(Theirs(secret, printed, name, identity).acted())
    sys.stdout.write(json.dumps(reached))


if __name__ == "__main__":
    main()
