"""Reads command lines as the service does: without a shell. Pure, but for a look at the node's PATH."""

import shlex
import shutil
from collections.abc import Mapping, Sequence

from local.azurebatch.run.endings import failure


def words_of(line: str) -> Sequence[str]:
    """The words of a command line; one with an open quote is split at its spaces."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def argv_of(line: str, env: Mapping[str, str]) -> Sequence[str]:
    """The arguments of a command line, which is read without a shell.

    Raises Failure if its program is missing.
    """
    argv = words_of(line)
    if not argv or (shutil.which(argv[0], path=env["PATH"]) is None and "/" not in argv[0]):
        message = "The specified command program is not found"
        raise failure("CommandProgramNotFound", message, {"Message": f"{argv[:1]} is on no PATH of the node"})
    return argv
