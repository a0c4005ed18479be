"""A job of one team that wants what a running job of another has. It harms nothing, and says what it got.

This file is the job's program, so it imports nothing of ours. It knows one word that the other job was given
as a secret, and one that it printed, and looks for them as any job could: in `/proc`, and beside its own
directories.
"""

import base64
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

#: Its own directories, which lie beside those of other jobs.
_OWN = ("AZ_BATCHAI_STDOUTERR_DIR", "AZ_BATCHAI_SHARED_JOB_TEMP", "AZ_BATCHAI_JOB_TEMP")
#: What opens a container, a share, or another node.
_KEYS = (b"SLIPWAY_PLAN=", b"SLIPWAY_VOLUMES=", b"SLIPWAY_KEEP=", b"sig=", b"account-key")
#: Seconds between two looks, and how many there are: the other job may not have begun yet.
_EVERY, _LOOKS = 0.5, 60


def intruding(secret: str, printed: str, name: str) -> str:
    """The command of a job that runs this program against the job of that name."""
    program = base64.b64encode(Path(__file__).read_bytes()).decode()
    # Half of each word: this command is itself in an environment.
    words = " ".join(f"{word[:8]} {word[8:]}" for word in (secret, printed, name))
    return f"echo {program} | base64 -d >intruder.py && python3 intruder.py {words}"


def _environments() -> Iterator[tuple[int, bytes]]:
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            yield int(entry.parent.name), entry.read_bytes()


def _may_signal(process: int) -> bool:
    with suppress(OSError):
        os.kill(process, 0)
        return True
    return False


def _files(name: str) -> Iterator[Path]:
    """The files of the other job, which bear its name in their paths."""
    for variable in _OWN:
        path = Path(os.environ.get(variable) or "/nowhere/at/all/x")
        for above in path.parents[:4]:
            with suppress(OSError):
                yield from (one for one in (above / name).rglob("*") if one.is_file())


def _reach(secret: str, printed: str, name: str) -> dict[str, bool]:
    processes = [(number, text) for number, text in _environments() if b"AZ_BATCHAI" in text]
    theirs = [number for number, text in processes if secret.encode() in text]
    files = list(_files(name))
    output = [path for path in files if path.name == "stdout.txt" and printed in path.read_text()]
    records = [path for path in files if path.name in ("result.json", "claim.json")]
    return {
        "environ": bool(theirs),
        "signal": any(map(_may_signal, theirs)),
        "output": bool(output),
        "write": any(os.access(path, os.W_OK) for path in output),
        "record": any(os.access(path, os.W_OK) for path in records),
    }


def _exposed() -> frozenset[int]:
    """The processes in whose environments keys are."""
    environments = _environments_of_nodes()
    return frozenset(number for number, text in environments if any(word in text for word in _KEYS))


def _environments_of_nodes() -> Iterator[tuple[int, bytes]]:
    """Those of programs on nodes: this machine may run other things, which no node would."""
    marks = (b"AZ_BATCH", b"SLURM_JOB_ID=", b"SLIPWAY_HOME=", b"SLIPWAY_TOKEN=")
    return ((number, text) for number, text in _environments() if any(mark in text for mark in marks))


def main() -> None:
    """Look until the other job is there, and say what was within reach.

    A program that starts anew without its keys has them for a moment: keys count that stay for two looks.
    """
    words = sys.argv[1:]
    secret, printed, name = ("".join(words[at : at + 2]) for at in (0, 2, 4))
    reached, before = dict[str, bool](), _exposed()
    for _ in range(_LOOKS):
        time.sleep(_EVERY)
        exposed = _exposed()
        now = {**_reach(secret, printed, name), "keys": bool(exposed & before)}
        before = exposed
        reached = {probe: now[probe] or reached.get(probe, False) for probe in now}
        if reached["environ"] and reached["output"]:
            break
    sys.stdout.write(json.dumps(reached))


if __name__ == "__main__":
    main()
