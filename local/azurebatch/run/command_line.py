"""Reads command lines as the service does: without a shell. Pure, but for a look at the node's PATH."""

import shlex
import shutil
from collections.abc import Mapping, Sequence

from local.azurebatch.run.endings import failure


def argv_of(line: str, env: Mapping[str, str]) -> Sequence[str]:
    """The arguments of a command line, which is read without a shell.

    Raises Failure if its program is missing.
    """
    try:
        argv = shlex.split(line)
    except ValueError:
        argv = line.split()
    if not argv or (shutil.which(argv[0], path=env["PATH"]) is None and "/" not in argv[0]):
        message = "The specified command program is not found"
        raise failure("CommandProgramNotFound", message, {"Message": f"{argv[:1]} is on no PATH of the node"})
    return argv
