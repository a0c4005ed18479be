"""Removes the leftovers of attempts on the shared file system, whose jobs ended long ago.

Of what a job wrote, only what it saved for its next attempt is there.
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

from shared.engines.node.files import remove
from shared.engines.node.store import Directory

#: How many seconds after the last change of its run the program may still have written its own output.
LATE = 3600.0


def forget(attempt: Path, token: str, saved: str, outputs: Path) -> None:
    """Remove what a job saved, the directory of an attempt and the outputs of its runs, not another job's."""
    owner = token
    with suppress(OSError):  # a claim that a job locked keeps nothing in its place
        owner = Directory(attempt).read("claim.json").get("token", token)
    if owner != token:
        return
    remove(saved)  # first: as long as the attempt is there, it is asked for again
    if not attempt.is_dir():
        return
    for run in attempt.iterdir():
        number = run.name.partition("-")[0]
        output = outputs / (number + ".out")
        # A scheduler that lost its state may have given the number to a later job.
        if number.isdigit() and output.is_file() and output.stat().st_mtime < run.stat().st_mtime + LATE:
            output.unlink()
    remove(str(attempt))


def clear() -> int:
    """Follow the plan; returns 1 if something could not be removed."""
    plan, code = json.loads(os.environ.pop("SLIPWAY_PLAN")), 0
    for directory, token, saved in plan["attempts"]:
        try:
            forget(Path(directory), token, saved, Path(plan["outputs"]))
            if plan["ends"]:
                remove(str(Path(plan["ends"]) / token))
        except OSError as error:
            sys.stderr.write(f"{error}\n")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(clear())
