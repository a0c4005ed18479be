"""A process of a job with all that came of it: asked to end once, waited for, and killed.

A shell ends at once while its child still saves a checkpoint. So a family is over when the last of its
session is, in any group. What has made a session of its own is the concern of the process that started
it: it is neither asked nor waited for here, or a daemon would hold up each end.
"""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Callable, Dict, List, NamedTuple, Set

#: Seconds between two looks, and looks at what does not die of SIGKILL at once.
LOOK_EVERY, LOOKS = 0.1, 50
#: Where Linux shows the processes of a machine.
_PROCESSES = Path("/proc")


class Row(NamedTuple):
    """A process that lives: its group, and its session."""

    group: int
    session: int


def living() -> Dict[int, Row]:
    """Every process that this one can see, by its number. One that has ended, and is not reaped, is none."""
    rows: Dict[int, Row] = {}
    for path in _PROCESSES.iterdir() if _PROCESSES.is_dir() else ():
        if path.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                fields = (path / "stat").read_text(errors="replace").rpartition(")")[2].split()
                if fields[0] not in "ZX":
                    rows[int(path.name)] = Row(int(fields[2]), int(fields[3]))
    return rows


class Family:
    """A process that leads a session of its own, and all of that session."""

    def __init__(self, leader: "subprocess.Popen[bytes]", is_far: bool = False) -> None:
        self._leader, self._is_spared, self._is_over = leader, is_far, False
        #: whether its processes are elsewhere, and a signal to the leader would have them killed, as by srun
        self.is_far = is_far
        self._groups: Set[int] = set()

    @property
    def has_ended(self) -> bool:
        """Whether the process that leads it has ended."""
        return self._leader.poll() is not None

    def note(self) -> None:
        """Look after it once its leader has ended: another process may get that number when all is over."""
        if not self._is_over and self.has_ended:
            self.is_there(living())

    def is_there(self, rows: Dict[int, Row]) -> bool:
        """Whether one of it lives."""
        has_ended = self.has_ended
        self._is_over = self._is_over or (has_ended and not self._members(rows))
        return not self._is_over

    def ask(self, rows: Dict[int, Row]) -> None:
        """Send SIGTERM to its group, once: a second one could end a process while it saves.

        The other groups of the session get it from the process that started them, such as `mpirun`, as long
        as that lives.
        """
        leader, groups = self._leader.pid, set(self._members(rows).values())
        chosen = {leader} if leader in groups or (not rows and not self.has_ended) else groups
        for group in () if self._is_spared or self._is_over else chosen - self._groups:
            _signal(-group, signal.SIGTERM)
        self._groups |= chosen

    def spare(self) -> None:
        """Do not ask it: its processes have had the signal from elsewhere."""
        self._is_spared = True

    def kill(self) -> None:
        """End what is left of it."""
        for _ in range(LOOKS):
            rows = living()
            if not self.is_there(rows):
                return
            _signal(-self._leader.pid, signal.SIGKILL)
            for number in self._members(rows):
                _signal(number, signal.SIGKILL)
            time.sleep(LOOK_EVERY / 10)

    def _members(self, rows: Dict[int, Row]) -> Dict[int, int]:
        """The number and the group of each process of the session."""
        return {number: row.group for number, row in rows.items() if row.session == self._leader.pid}


def _signal(number: int, name: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(number, name)


class Ending:
    """How the processes of a run end.

    `grace`: seconds from SIGTERM to SIGKILL. `ask_far` sends SIGTERM where a family is far.
    """

    def __init__(self, grace: float, ask_far: Callable[[], None] = lambda: None) -> None:
        self._grace, self._ask_far = grace, ask_far
        #: whether the run has been asked to end, and the scheduler has by itself asked every process of it
        self.is_asked = self.is_sent = False

    def end(self, families: List[Family], is_own: bool) -> None:
        """Ask them to end, wait until nothing of them is left, and kill what is after the grace.

        `is_own`: one has ended by itself. What such a command leaves behind is killed at once; not after a
        request to end: then a shell is gone at once, and its child saves.
        """
        for family in families if is_own and not self.is_asked else ():
            if family.has_ended:
                family.kill()
        for family in families if self.is_sent else ():
            family.spare()
        if not self.is_sent and [1 for family in families if family.is_far and not family.has_ended]:
            self._ask_far()
        until = time.monotonic() + self._grace
        while True:
            rows = living()
            for family in families:
                family.ask(rows)
            if not [1 for family in families if family.is_there(rows)] or time.monotonic() > until:
                break
            time.sleep(LOOK_EVERY)
        for family in families:
            family.kill()
