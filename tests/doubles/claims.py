"""Who may run an attempt, as the file system that nodes share keeps it (`shared/engines/node/claim.py`).

Jobs can write there as well, and a job of another team does, for each attempt that runs. So a run sees of an
attempt only what its keys prove; without a key, all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass
class Claim:
    """What a run has written about its attempt, with the proofs of these keys."""

    token: str
    submission: str
    keys: frozenset[str]
    ended: bool = False
    #: whether a later attempt took it away
    is_taken: bool = False


@dataclass(frozen=True)
class Earlier:
    """An attempt before the one that is to run, as its order names it."""

    name: str
    token: str
    #: why it ended according to the ledger
    reason: str
    keys: Sequence[str] = ()


class Claims(dict[str, Claim]):
    """Name of an attempt → the claim on it."""

    def __init__(self) -> None:
        super().__init__()
        self._forged: set[str] = set()

    def forge(self, names: Iterable[str]) -> None:
        """Another job writes, without a proof, that these attempts have ended."""
        self._forged.update(names)

    def take(
        self, name: str, token: str, submission: str, keys: Sequence[str], earlier: Iterable[Earlier]
    ) -> int | None:
        """Claim an attempt, and take the job from those before it.

        Returns the exit code of a run that must not begin.
        """
        claim = self._claim_for(name, token, submission, keys)
        if claim.token != token:
            return 252
        if self._has_ended(name, keys):
            return 0
        if claim.is_taken:
            return 254
        if claim.submission != submission:
            return 253
        for one in earlier:
            last = self._claim_for(one.name, one.token, "", one.keys)
            if self._has_ended(one.name, one.keys) and one.reason:
                claim.ended = True
                return 0
            last.is_taken = True
        return None

    def has_lost(self, name: str) -> bool:
        """Whether runs of that attempt have lost it."""
        return name in self and self[name].is_taken

    def end(self, name: str) -> None:
        """A run of the attempt has come to its end."""
        if name in self:
            self[name].ended = True

    def _claim_for(self, name: str, token: str, submission: str, keys: Sequence[str]) -> Claim:
        """The claim on an attempt, which a run makes where it sees none."""
        if name not in self or (keys and self[name].keys.isdisjoint(keys)):
            self[name] = Claim(token, submission, frozenset(keys))
        return self[name]

    def _has_ended(self, name: str, keys: Sequence[str]) -> bool:
        return self[name].ended or (name in self._forged and not keys)
