"""Decides which files of a run exist only on its own nodes, and when they are uploaded (`keep`)."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List

from shared.engines.node.claim import MOVED, WATCH, Claim, Silent
from shared.engines.node.processes import Failed, run_all

#: Seconds for it, and after a request to end.
UPLOAD, LATE_UPLOAD = 3600.0, 300.0


def only_here(directories: Dict[str, str], shares: List[str]) -> Dict[str, str]:
    """The directories that are on no share: id → path."""
    roots = tuple(os.path.realpath(share).rstrip("/") + "/" for share in shares)
    paths = {name: os.path.realpath(path) for name, path in directories.items()}
    return {name: path for name, path in paths.items() if not path.startswith(roots)}


def bring(
    plan: Dict[str, Any], env: Dict[str, str], directory: str, claim: Claim, is_asked: bool = False
) -> bool:
    """Upload the files; returns whether all were uploaded. `directory`: that of the logs.

    A failure does not change the end of the run. Raises Silent when the claim is lost.
    """
    if "uploads" not in plan or "SLIPWAY_KEPT" not in env:
        return False
    until, looks = time.time() + (LATE_UPLOAD if is_asked else UPLOAD), [time.time()]

    def check() -> None:
        if time.time() > until:
            raise OSError("it takes too long")
        if time.time() - looks[-1] > WATCH:
            looks.append(time.time())
            if not claim.is_held():
                raise Silent(MOVED)

    try:
        run_all(plan["uploads"]["keep"], [], env, Path(directory), check)
    except (Failed, OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"Not all files could be uploaded to the container: {error}\n")
        return False
    return True
