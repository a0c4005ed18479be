"""exit_codes: what the exit code of a job's command says about its end. Pure."""

from shared.core.engine import Observation
from shared.core.job import Reason

#: Codes of a shell, and 128 + the number of a signal, as shells and launchers report a program that it ended.
_MEANINGS = {
    126: "a command is not executable, or is for another kind of machine",
    127: "a command was not found",
    134: "a program aborted (signal 6)",
    135: "a program crashed (signal 7), often because /dev/shm was full",
    136: "a program crashed (signal 8)",
    137: "killed (signal 9), usually because it used more memory than there is",
    139: "a program crashed (signal 11)",
    143: "a program was asked to end (signal 15)",
}


def with_meaning(end: Observation) -> Observation:
    """The same end; its message explains the exit code, unless the engine knows more."""
    code = end.exit_code
    meaning = _MEANINGS.get(code or 0)
    is_known = not meaning or "signal" in end.message or "memory" in end.message or meaning in end.message
    if end.reason is not Reason.USER or is_known:
        return end
    return end._replace(message=f"{end.message or 'the job failed'}: exit code {code}, {meaning}")
