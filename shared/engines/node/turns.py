"""The turns of an attempt: a run's, then perhaps that run's end, or its successor.

Each turn is an object with a higher number. Of several writers of the same turn one succeeds, on every
network file system and in every container. So a run can end only while it still has the attempt, and nothing
can follow an end. What bears the name of a turn without its proof is none: a job put it there.
"""

import re
from typing import Any, Dict, Tuple

from shared.engines.node.store import Store

#: The name of a turn.
NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)


class Turns:
    """The turns of one attempt."""

    def __init__(self, attempt: Store) -> None:
        self._store = attempt.child("turns")

    def last(self) -> Tuple[int, Dict[str, Any]]:
        """The number and the content of the last turn, 0 before the first. Raises OSError if not known."""
        try:
            names = self._store.names()
        except FileNotFoundError:
            return 0, {}
        for number in sorted((int(name) for name in names if NUMBER.fullmatch(name)), reverse=True):
            content = self._read(number)
            if content:
                return number, content
        return 0, {}

    def has_after(self, number: int) -> bool:
        """Whether a turn follows that one. Raises OSError if that is not known."""
        while self._store.has(str(number + 1)):
            number += 1
            if self._read(number):
                return True
        return False

    def add(self, number: int, value: Dict[str, Any]) -> int:
        """Write the turn that follows the one of that number; returns its own, 0 if another process did."""
        while True:
            number += 1
            try:
                self._store.add(str(number), value)
            except FileExistsError:
                content = self._read(number)
                if content:
                    return number if content == value else 0  # ours, if an answer was lost
            else:
                return number

    def _read(self, number: int) -> Dict[str, Any]:
        content = self._store.read(str(number))
        if not content and not self._store.proof.is_needed:
            raise OSError(f"turn {number} of {self._store} cannot be read")  # it may be an end
        return content
