"""A problem with a document: what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from shared.spec.tree import walk

Severity: TypeAlias = Literal["error", "warning", "hint"]


@dataclass(frozen=True)
class Problem:
    """One finding. It never quotes the value of a secret or of an unknown property."""

    #: From the table in `codes.py`; stable across releases.
    code: str
    #: RFC 6901; "" is the whole document. For a missing property: where it belongs.
    pointer: str
    message: str
    remedy: str
    severity: Severity = "error"

    def as_dict(self) -> dict[str, str]:
        """The problem as JSON, for receipts and problem documents."""
        return {
            "code": self.code,
            "severity": self.severity,
            "pointer": self.pointer,
            "message": self.message,
            "remedy": self.remedy,
        }

    def under(self, pointer: str) -> Problem:
        """The same problem, where the document is itself a member of another (`/spec`)."""
        return replace(self, pointer=pointer + self.pointer)


def has_errors(problems: Iterable[Problem]) -> bool:
    """Whether any of the problems stops the document; warnings and hints do not."""
    return any(problem.severity == "error" for problem in problems)


def in_document_order(document: Any, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Sorted by place, then code and message: the same document always gives the same list."""
    found = set(problems)
    if not found:
        return ()
    order = {node.pointer: index for index, node in enumerate(walk(document))}

    def place(problem: Problem) -> tuple[int, bool, str, str, str]:
        pointer = problem.pointer
        while pointer and pointer not in order:
            pointer = pointer.rpartition("/")[0]
        return order[pointer], pointer != problem.pointer, problem.code, problem.pointer, problem.message

    return tuple(sorted(found, key=place))
