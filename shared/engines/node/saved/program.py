"""The program that keeps the saved directory of a job on its node (`keep` starts it).

All nodes write back at the same seconds, and it takes at most a fifth of the time.
"""

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, Dict, List, Set

from shared.engines.node.blobs import Container
from shared.engines.node.saved.folder import fill
from shared.engines.node.saved.generations import FILE, Moment
from shared.engines.node.saved.node import Saved
from shared.engines.node.saved.shelf import MOST_READ, Lacking, Shelf

#: What it may be told to do: before the start, while the job runs, and at its end.
FILL, WRITE_BACK, FINISH_SAVED = "fill", "write-back", "finish-saved"
#: Variables with the directory; the attempt and the run; the node's number, and those of all; and the time of
#: the last write-back.
SAVED, RUN_NUMBERS, RANK, NODES_OF_RUN = "SLIPWAY_SAVED", "SLIPWAY_SAVED_RUN", "SLIPWAY_RANK", "SLIPWAY_NODES"
LAST_AT = "SLIPWAY_SAVED_AT"
#: Seconds between two write-backs: at least; and where a fourth of them is enough for one, at most. Up to
#: that, no more than an eighth of a job's time is lost with its node.
OFTEN_SAVED, SELDOM_SAVED = 5, 80

#: How many lines about what is not saved are printed while the job runs.
MOST_SAID = 100
#: The exit code where there is nothing of the job from which this one is to go on.
NOTHING_THERE = 3


def pause(age: float, took: float) -> int:
    """Seconds between write-backs of a job that has run that long, if the last one took so many.

    It doubles, and they are at its multiples: nodes with different pauses still meet at the longer one's.
    """
    seconds = OFTEN_SAVED
    while seconds < min(age / 8, SELDOM_SAVED) or seconds < 4 * took:
        seconds *= 2
    return seconds


def _reasons(saved: Saved) -> List[str]:
    return [f"Not saved: {name}: {reason}" for name, reason in sorted(saved.left_out.items())[:MOST_READ]]


def _say(lines: List[str], before: Set[str]) -> None:
    """Print the lines that were not printed before, up to a number."""
    for line in lines:
        if line not in before and len(before) < MOST_SAID:
            before.add(line)
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def write_back_often(saved: Saved) -> None:
    """Write back until the process is ended. A failure is tried again at the next moment, and named once."""
    reasons: Set[str] = set()
    began, took, is_begun = time.time(), 0.0, False
    while True:
        seconds = pause(time.time() - began, took)
        at = (int(time.time()) // seconds + 1) * seconds
        time.sleep(max(0.0, at - time.time()))
        start = time.monotonic()
        try:
            if not is_begun:
                saved.begin()
            is_begun = True
            saved.write_back(at)
            _say(_reasons(saved), reasons)
        except OSError as error:
            _say([str(error)], reasons)
        took = time.monotonic() - start


def bring_others(container: Container, where: Dict[str, Any], root: str) -> None:
    """Put what the jobs `before` saved beside the saved directory, each by its own name. Raises OSError."""
    for other in where["before"]:
        shelf = Shelf(container, other)
        source = shelf.newest()
        fill(str(Path(root).with_name(other["name"])), source.entries, partial(shelf.bring, source))


def save(word: str, where: Dict[str, Any]) -> int:
    """Fill, write back often, or write back for the last time; returns the exit code."""
    attempt, run = map(int, os.environ[RUN_NUMBERS].split("-"))
    node, nodes = int(os.environ.get(RANK) or 0), int(os.environ.get(NODES_OF_RUN) or 1)
    container, root = Container(where), os.environ[SAVED]
    saved = Saved(Shelf(container, where), root, Moment(attempt, run, 0), node, nodes)
    try:
        if word == FILL:
            bring_others(container, where, root)
            files = [entry.size for entry in saved.fill() if entry.kind == FILE]
            if files:
                sys.stdout.write(f"Restored {len(files)} files that the job saved, {sum(files)} bytes\n")
        elif word == WRITE_BACK:
            write_back_often(saved)
        else:
            saved.begin()
            saved.write_back(int(os.environ.get(LAST_AT) or time.time()))
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        return NOTHING_THERE if isinstance(error, Lacking) else 1
    _say(_reasons(saved), set())
    return 0
