"""Keeps the nodes of a job that failed by its author's fault.

On each node a process waits in the environment and the directory of the job, until a person makes the file
`release` beside that directory, the run is asked to end, or the time is over. How the run ended is recorded
before that, as an end that nothing can follow: no lost node and no request changes it.
"""

import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Dict

from shared.engines.node.claim import WATCH, Claim
from shared.engines.node.ends import End
from shared.engines.node.families import Ending
from shared.engines.node.files import stamp
from shared.engines.node.processes import Failed, run_all


class Released(Exception):
    """The nodes need not be kept any more."""


def kept_until(plan: Dict[str, Any], end: End, limit: float) -> float:
    """Until when the nodes of a run with this end are kept, in Unix time; 0 for not at all.

    `limit`: when its wall-clock time is over.
    """
    if "hold" not in plan or end.reason != "user":
        return 0.0
    return min(time.time() + float(plan["hold"]["seconds"]), limit)


def held(until: float) -> Dict[str, Any]:
    """What the record of a run says of it; nothing of one whose nodes are not kept."""
    return {"held": {"until": stamp(until)}} if until else {}


def keep_nodes(
    plan: Dict[str, Any],
    env: Dict[str, str],
    own: Dict[str, str],
    directory: str,
    until: float,
    ending: Ending,
    claim: Claim,
) -> None:
    """Keep the nodes until then, or until a person wants them back. `directory`: that of the logs."""
    looks = [time.time()]

    def check() -> None:
        now = time.time()
        if ending.is_asked or now > until:
            raise Released
        if now - looks[-1] > WATCH:
            looks[:] = [now]
            claim.check(plan["isAsked"])

    # However the processes end that wait there, the job has ended as it is recorded.
    with suppress(Released, End, Failed, OSError, subprocess.SubprocessError):
        run_all(plan["hold"]["steps"], [], env, Path(directory), check, own, ending)
