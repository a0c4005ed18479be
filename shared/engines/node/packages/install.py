"""Makes the Python environment of a job on its node, of what a file of its folder lists. It stands alone.

Its argument is the file. The environment is at $AZ_BATCHAI_JOB_TEMP/environment: a shell reads its
`activate`, and `python` there is the interpreter with the environment's commands on its PATH. What the node
or the image has is used, and not installed again.
"""

import fcntl
import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Dict, List

from shared.engines.node.packages.environment import MARK, Absent, Environment
from shared.engines.node.packages.reuse import reusable

#: The folder below the job's own directory.
ENVIRONMENT = "environment"
#: The variable with what the cluster sets: `index`, `proxy`, `keep`, and `seconds`, how long the job may run.
SETTINGS = "SLIPWAY_PACKAGES"
#: Seconds from which on an image is worth its while.
LONG = 60
_IMAGE = "slipway run --image NAME"


def make(file: Path, place: Path, environment: Dict[str, str]) -> str:
    """Make the environment at that place, and say how. Raises as `Environment.make`."""
    settings = json.loads(environment.get(SETTINGS) or "{}")
    values = {**_variables(settings), **environment}
    with Path(f"{place}.lock").open("w") as lock:  # nodes may share the directory
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        if (place / MARK).exists():
            return "are there"
        base = None
        if settings.get("keep"):
            base = reusable(Path(settings["keep"]), file, values, time.time() + settings["seconds"])
        one = Environment(place, file, values)
        if base:
            one.make_above(base.place)
            return "were installed, and are kept" if base.is_new else "were kept"
        one.make()
        return "were installed"


def _variables(settings: Dict[str, Any]) -> Dict[str, str]:
    """The variables of pip and uv for an index and a proxy of the cluster."""
    values: Dict[str, str] = {}
    if settings.get("index"):
        values.update(PIP_INDEX_URL=settings["index"], UV_DEFAULT_INDEX=settings["index"])
    if settings.get("proxy"):
        values.update(HTTP_PROXY=settings["proxy"], HTTPS_PROXY=settings["proxy"])
    return values


def main(arguments: List[str], environment: Dict[str, str]) -> int:
    """Make the environment of the file that is the argument; its exit code."""
    file = Path.cwd() / arguments[0]  # of a link: its own folder counts, as for pip
    place = Path(environment["AZ_BATCHAI_JOB_TEMP"], ENVIRONMENT)
    began = time.time()
    try:
        how = make(file, place, environment)
    except (Absent, OSError, subprocess.CalledProcessError) as error:
        text = f"the packages of {file.name} could not be installed"
        if isinstance(error, subprocess.CalledProcessError):  # which has said why
            text += f" for Python {sys.version_info[0]}.{sys.version_info[1]}"
            remedy = "list other versions, or choose an image with another Python, or with these packages"
        else:
            text, remedy = f"{text}: {error}", "or choose an image that has them"
        sys.stderr.write(f"{text} (on {os.uname()[1]}); {remedy}: {_IMAGE}\n")
        return 1
    took = max(1, round(time.time() - began))
    sys.stdout.write(f"The packages of {file.name} {how}: {took} s\n")
    if took > LONG:
        sys.stdout.write(f"An image that has them starts at once: {_IMAGE}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], dict(os.environ)))
