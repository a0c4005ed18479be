"""How a run ends."""

import errno
from typing import Any, Dict, Iterable

#: Exit codes of runs in which no command of the job gave one; the record names the reason.
NOT_READY, NOT_PREPARED, TIMEOUT, DISPLACED, NO_PROGRAM, TERMINATED = 250, 251, 124, 126, 127, 143
#: The exit code of a run that could record nothing, since a disk is full or a quota of it is used up.
NO_ROOM = 242
#: The most characters of what a program of ours wrote, in the message of an end.
WORDS = 400


class End(Exception):
    """The run is over: exit code, reason, and a sentence. `final`: no other run of the attempt may follow."""

    def __init__(self, code: int, reason: str, message: str, final: bool = True, mark: str = "") -> None:
        super().__init__(message)
        self.code, self.reason, self.message, self.final = code, reason, message, final
        self._mark = mark

    def fields(self) -> Dict[str, Any]:
        """What the record of the run says of it. `mark`: another member, which is then true."""
        shown_code = {"preparation": 1}.get(self.reason, self.code)  # in the form of the service
        exit_code = None if self.reason in ("terminated", "timeout", "infrastructure") else shown_code
        fields = {"state": "ended", "reason": self.reason, "message": self.message, "final": self.final}
        fields.update(code=self.code, exitCode=exit_code)
        return dict(fields, **({self._mark: True} if self._mark else {}))

    @staticmethod
    def unrecorded(error: OSError) -> int:
        """The exit code of a run that could not record how it ended."""
        return NO_ROOM if error.errno in (errno.ENOSPC, errno.EDQUOT) else NOT_READY


def with_words(message: str, errors: str, secrets: Iterable[str] = ()) -> str:
    """The message, with the last line that a program of ours wrote to its standard error, if there is one."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        errors = errors.replace(secret, "***")
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return f"{message}: {lines[-1][:WORDS]}" if lines else message


def asked_end(by_app: bool = False) -> End:
    """The end of a run that has been asked to end, by a signal, which may come from anyone, or by the app."""
    return End(TERMINATED, "terminated", "The job has been asked to end", final=by_app)
