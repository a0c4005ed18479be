"""Why nothing of a job ran without its code, by the exit code of the program that brings it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from shared.core.engine import Observation
from shared.core.job import JobState, Reason

#: The exit codes, as in `node/code.py`.
EXPIRED, DELETED, DIFFERENT, HOSTILE, FAILED = 244, 245, 246, 247, 248


class Codeless(NamedTuple):
    """The reason, also in words; whether another attempt costs no retry; whether storage has other bytes."""

    reason: Reason
    text: str
    is_unstarted: bool = False
    is_other: bool = False

    def ended(self, end: Observation, text: str = "") -> Observation:
        """The end of such a job. `text`: what its node said."""
        exit_code = 1 if self.reason is Reason.PREPARATION else None
        return end._replace(
            state=JobState.FAILED,
            reason=self.reason,
            message=text or self.text,
            exit_code=exit_code,
            unstarted=self.is_unstarted,
            had_nodes=self.is_unstarted,
            is_other_code=self.is_other,
        )


#: Exit code → what it means.
CODELESS: Mapping[int, Codeless] = {
    EXPIRED: Codeless(Reason.INFRASTRUCTURE, "the address of its code is no longer valid", True),
    DELETED: Codeless(Reason.PREPARATION, "its code was deleted"),
    DIFFERENT: Codeless(
        Reason.INFRASTRUCTURE, "what storage has is not the code that was accepted", is_other=True
    ),
    HOSTILE: Codeless(Reason.PREPARATION, "the archive of its code cannot be unpacked"),
    FAILED: Codeless(Reason.INFRASTRUCTURE, "its code could not be brought to a node"),
}
