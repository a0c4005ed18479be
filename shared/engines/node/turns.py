"""The turns of an attempt: a run's, then perhaps that run's end, or its successor.

Each turn is an object with a higher number. Of several writers of the same turn one succeeds, on every
network file system and in every container. So a run can end only while it still has the attempt, and nothing
can follow an end. What bears the name of a turn without its proof is none: a job put it there.
"""

from itertools import islice
from typing import Any, Dict, Iterable, Tuple

from shared.engines.node.store import Store, numbers_of

#: Runs do not have so many turns; jobs may write there, and each is read.
_MOST = 10_000


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
        return self._newest(numbers_of(names))

    def has_after(self, number: int) -> bool:
        """Whether a turn follows that one. Raises OSError if that is not known now."""
        return self._newest(self._store.numbers_after(number), waits=False)[0] > 0

    def add(self, number: int, value: Dict[str, Any]) -> int:
        """Write a turn that follows the one of that number; returns its own, 0 if another process did.

        Raises OSError if none can be written.
        """
        if self._store.is_open_to_jobs:  # one that follows may have any number
            later, content = self._newest(self._store.numbers_after(number))
            if content:
                return later if content == value else 0
        for following in range(number + 1, number + _MOST):
            try:
                self._store.add(str(following), value)
            except FileExistsError:
                content = self._read(following)
                if content:
                    return following if content == value else 0  # ours, if an answer was lost
                if following == number + 1 and not self._store.has(str(following)):
                    break  # something else stands in the place of the store
            else:
                return following
        raise OSError(f"turn {following} of {self._store} cannot be written")

    def _newest(self, numbers: Iterable[int], waits: bool = True) -> Tuple[int, Dict[str, Any]]:
        """The last of these turns, and its content. Raises OSError for more names than runs have."""
        newest_first = sorted(islice(numbers, _MOST), reverse=True)
        if len(newest_first) == _MOST:
            raise OSError(f"{self._store} has {_MOST} names of turns or more")
        for number in newest_first:
            content = self._read(number, waits)
            if content:
                return number, content
        return 0, {}

    def _read(self, number: int, waits: bool = True) -> Dict[str, Any]:
        content = self._store.read(str(number), waits)
        if not content and not self._store.proof.is_needed:
            raise OSError(f"turn {number} of {self._store} cannot be read")  # it may be an end
        return content
