"""Whether a server that refuses everything has only just started. Pure.

A new API server answers 401 or 403 to every request until it has read its roles and accounts. `/readyz`
shows when that is over, without a log-in.
"""

from __future__ import annotations

#: Seconds for which refusals may come from a start, if nothing shows that it is over.
_LONGEST = 120.0


class Starting:
    """The refusals of one server, one after another."""

    def __init__(self) -> None:
        self._since: float | None = None

    def is_over(self) -> None:
        """Note that the server has served a request, so its start is over."""
        self._since = None

    def may_pass(self, readiness: int, now: float) -> bool:
        """Whether a refusal may pass. `readiness`: the status of `/readyz`, 0 without an answer."""
        if readiness == 200:
            self._since = None
            return False
        self._since = now if self._since is None else self._since
        return now - self._since < _LONGEST
