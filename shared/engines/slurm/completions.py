"""How jobs ended, from the file in which slurmctld notes it (JobCompType=jobcomp/filetxt).

A line has neither the comment, by which a job is known as ours, nor a time with its zone. So a job is told by
its name, which one attempt alone has, and by its user; and only its end is, not when that was.
"""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

from shared.engines.slurm.dialect import Copy
from shared.errors import Transient

#: Bytes at the end of the file that are looked through, some 15,000 jobs: it grows for as long as it is let.
_TAIL = 8 << 20
#: The members of a line that are needed, in their order (src/plugins/jobcomp/filetxt). Of what stands before
#: JobState a person writes the name alone, and that is compared as a whole.
_LINE = (
    r"^JobId=(\d+) UserId={user}\(\d+\) GroupId=\S+ Name={name} JobState=(\w+) "
    r".*?StartTime=(\S+) .*ExitCode=(\d+):(\d+) *$"
)
_NEVER = ("Unknown", "NONE")


class Completions:
    """The file of one cluster; `path` is "" where there is none."""

    def __init__(self, path: str, user: str) -> None:
        self._path, self._user = path, user

    async def of(self, name: str, token: str) -> list[Copy]:
        """The jobs of that name that ran and are over. Raises Transient when the file cannot be read."""
        return await asyncio.to_thread(self._read, name, token) if self._path else []

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
        # One that was requeued has a line for each run; the last one counts.
        last = {found[1]: found for found in re.finditer(pattern, text, re.M)}
        return [_copy(found, name, token) for found in last.values() if found[3] not in _NEVER]


def _copy(found: re.Match[str], name: str, token: str) -> Copy:
    return Copy(
        id=int(found[1]),
        name=name,
        token=token,
        wanted=None,
        states=frozenset({found[2]}),
        held=False,
        priority=0,
        submitted=0.0,
        started=None,
        ended=None,
        restarts=0,
        code=int(found[4]),
        signal=int(found[5]),
        reason="",
        nodes="",
    )
