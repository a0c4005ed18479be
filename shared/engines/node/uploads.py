"""Decides which files of a run exist only on its own nodes, and when they are uploaded (`keep`)."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Callable, Dict, List

from shared.engines.node.claim import MOVED, WATCH, Claim, Silent
from shared.engines.node.ends import NOT_PREPARED, NOT_READY, End
from shared.engines.node.files import open_end, stamp
from shared.engines.node.mounting import why_not_ready
from shared.engines.node.processes import Failed, run_all

#: Seconds for it, and after a request to end.
UPLOAD, LATE_UPLOAD = 3600.0, 300.0
#: The exit code of the step that fills the saved directory where there is nothing of the job to go on from.
NOTHING_THERE = 3
#: Variables: the attempt and the run by which generations of the saved directory follow one another, once it
#: is filled; and the second of the last one.
NUMBERS, LAST = "SLIPWAY_SAVED_RUN", "SLIPWAY_SAVED_AT"


def only_here(directories: Dict[str, str], shares: List[str]) -> Dict[str, str]:
    """The directories that are on no share: id → path."""
    roots = tuple(os.path.realpath(share).rstrip("/") + "/" for share in shares)
    paths = {name: os.path.realpath(path) for name, path in directories.items()}
    return {name: path for name, path in paths.items() if not path.startswith(roots)}


def separate(
    plan: Dict[str, Any], env: Dict[str, str], directories: Dict[str, str], volumes: List[str]
) -> None:
    """Set the variables with the directories to upload, and with those to remove then.

    On a volume they remain; what the job saved has generations of its own.
    """
    if "uploads" in plan:
        saved = (plan["saved"] or {}).get("id")
        outputs = {name: path for name, path in directories.items() if name != saved}
        uploaded = only_here(outputs, plan["uploads"]["shares"])
        env["SLIPWAY_KEPT"] = json.dumps(uploaded)
        env["SLIPWAY_REMOVED"] = json.dumps(only_here(uploaded, volumes))


def places(plan: Dict[str, Any], env: Dict[str, str]) -> Dict[str, Any]:
    """What the record says of them: which directories are uploaded, and which has generations."""
    if "uploads" not in plan or "SLIPWAY_KEPT" not in env:
        return {}
    return {"kept": sorted(json.loads(env["SLIPWAY_KEPT"])), "saved": plan["saved"]["id"]}


def restore(
    plan: Dict[str, Any], env: Dict[str, str], logs: str, run: int, check: Callable[[], None]
) -> None:
    """Fill the saved directory of every node, where they share none. Raises End."""
    if "uploads" not in plan:
        return
    numbers = {NUMBERS: f"{plan['saved']['attempt']}-{run}"}
    try:
        run_all(plan["saved"]["fill"], [], {**env, **numbers}, Path(logs), check)
    except Failed as failed:
        check()
        message = why_not_ready("What the job saved was not restored", Path(logs, env["SLIPWAY_LOG"]), plan)
        if failed.code == NOTHING_THERE:
            raise End(NOT_PREPARED, "preparation", message.partition(": ")[2]) from None
        raise End(NOT_READY, "infrastructure", message) from None
    env.update(numbers)


def bring(plan: Dict[str, Any], env: Dict[str, str], directory: str, claim: Claim, end: End) -> bool:
    """Upload the files, and what the job saved; returns whether all files were uploaded.

    What the next run needs goes first where the attempt goes on; and last what this prints into the journals,
    which the first node has. `directory`: that of the logs. A failure does not change the end of the run.
    Raises Silent when the claim is lost.
    """
    if "uploads" not in plan or "SLIPWAY_KEPT" not in env:
        return False
    until, looks = time.time() + (LATE_UPLOAD if end.reason == "terminated" else UPLOAD), [time.time()]

    def check() -> None:
        if time.time() > until:
            raise OSError("it takes too long")
        if time.time() - looks[-1] > WATCH:
            looks.append(time.time())
            if not claim.is_held():
                raise Silent(MOVED)

    outputs, journals = plan["uploads"]["keep"], plan["uploads"]["journals"]
    now = {LAST: str(int(time.time()))}
    # A directory that was not filled has less than its last generation.
    saved = plan["saved"]["finish"] if NUMBERS in env else []
    failed = []  # type: List[Any]
    for steps in (*((outputs, saved) if end.final else (saved, outputs)), journals):
        try:
            run_all(steps, [], {**env, **now}, Path(directory), check)
        except (Failed, OSError, subprocess.SubprocessError) as error:
            why = "" if isinstance(error, Failed) else f": {error}"  # a step has printed it
            text = f"Not all files could be uploaded to the container{why}\n"
            sys.stderr.write(text)
            with suppress(OSError), open_end(Path(directory, env["SLIPWAY_LOG"])) as journal:
                journal.write(f"{stamp()} {text}".encode())
            failed.append(steps)
    return outputs not in failed and journals not in failed
