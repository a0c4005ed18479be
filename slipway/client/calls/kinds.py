"""Of which kind a refusal of the API is, for programs."""

from collections.abc import Mapping
from typing import Any

from slipway.failure import NOT_ALLOWED, OVER_LIMIT, REJECTED, UNKNOWN, Kind

#: The codes of problems of a document that say that it needs more than it may have.
_LIMITS = frozenset({"SW110", "SW119"})
#: The code of one that the caller's team may not have.
_OF_TEAM = "SW113"


def kind_of(status: int, problem: Mapping[str, Any]) -> Kind:
    """The kind of a refusal, by its status; that of a document, by its problems."""
    if status == 403:
        return NOT_ALLOWED
    if status in (404, 410):
        return UNKNOWN
    codes = {one["code"] for one in problem.get("errors", []) if one["severity"] == "error"}
    if codes and codes <= _LIMITS:
        return OVER_LIMIT
    return NOT_ALLOWED if codes == {_OF_TEAM} else REJECTED
