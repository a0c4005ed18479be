"""How jobs ended, from the file in which slurmctld notes it (JobCompType=jobcomp/filetxt).

A line has neither the comment, which marks a job as ours, nor a time with its zone. So a job is recognised by
its name, which one attempt alone has, and by its user; and only its end is known, not the time.

slurmctld writes names as they are, with line breaks too: another user of the cluster can have it write a
whole forged line. So an end counts only if all lines of a job agree.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

from shared.core.errors import Transient
from shared.engines.reads import Reads
from shared.engines.recorded import IDLE
from shared.engines.slurm.wire.dialect import Copy

#: Bytes to read at the end of the file, some 15,000 jobs. The file may grow without limit.
_TAIL = 8 << 20
#: The needed members of a line, in order (src/plugins/jobcomp/filetxt). Of those before JobState, people
#: choose only the name, which is compared as a whole.
_LINE = (
    r"^JobId=(\d+) UserId={user}\(\d+\) GroupId=\S+ Name={name} JobState=(\w+) "
    r".*?StartTime=(\S+) .*ExitCode=(\d+):(\d+) *$"
)
_NEVER = ("Unknown", "NONE")
#: After these, a job may have run again under the same number.
_CUT_OFF = ("NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REQUEUED")

log = logging.getLogger(__name__)


class Completions:
    """The file of one cluster. `path` is "" if there is none."""

    def __init__(self, path: str, user: str) -> None:
        self._path, self._user, self._reads = path, user, Reads(Transient)

    async def find(self, name: str, token: str) -> list[Copy]:
        """The job of that name that ran and has ended: one, or none.

        Raises Transient if the file is missing.
        """
        return await self._reads.run(self._read, name, token) if self._path else []

    def _read(self, name: str, token: str) -> list[Copy]:
        try:
            with Path(self._path).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _TAIL))
                if size > _TAIL:
                    file.readline()  # the rest of a line
                text = file.read().decode("utf-8", "replace")
        except OSError as error:
            raise Transient(f"the completions of jobs cannot be read: {error.strerror}") from error
        pattern = _LINE.format(user=re.escape(self._user), name=re.escape(name))
        ran = [
            match
            for match in re.finditer(pattern, text, re.M)
            if match[3] not in _NEVER and int(match[4]) not in IDLE
        ]
        ends = [match for match in ran if match[2] not in _CUT_OFF] or ran[-1:]
        if len({match.group(2, 4, 5) for match in ends}) > 1:
            log.warning("the completions of jobs contradict each other about %s, and are ignored", name)
            return []
        return [_copy(match, name, self._user, token) for match in ends[-1:]]


def _copy(match: re.Match[str], name: str, user: str, token: str) -> Copy:
    return Copy(
        id=int(match[1]),
        name=name,
        user=user,
        token=token,
        marked_priority=None,
        states=frozenset({match[2]}),
        held=False,
        priority=0,
        submitted=0.0,
        started=None,
        ended=None,
        restarts=0,
        code=int(match[4]),
        signal=int(match[5]),
        reason="",
        description="",
        nodes="",
    )
