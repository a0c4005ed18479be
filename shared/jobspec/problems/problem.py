"""A problem of a document: the fault, its place, and the remedy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from shared.jobspec.problems.fix import Fix
from shared.jobspec.text.tree import walk

Severity: TypeAlias = Literal["error", "warning", "hint"]
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")


@dataclass(frozen=True)
class Place:
    """The place of a problem in the text that a person wrote. Lines and columns count from 1."""

    file: str
    line: int
    column: int
    end_line: int
    #: Position of the first character after the token.
    end_column: int
    #: The line, or a window of a long one, without secrets and unprintable characters.
    source: str
    #: How many characters of `source` precede the token, and how many belong to it.
    caret: int
    width: int
    #: The fix as replacements in the text, in order: line, column, end line, end column, new text.
    edits: tuple[tuple[int, int, int, int, str], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The place as JSON, as members of the problem."""
        members: dict[str, Any] = {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "endLine": self.end_line,
            "endColumn": self.end_column,
            "source": self.source,
            "caret": self.caret,
            "width": self.width,
        }
        names = ("line", "column", "endLine", "endColumn", "text")
        if self.edits:
            members["edits"] = [dict(zip(names, edit, strict=True)) for edit in self.edits]
        return members


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
    #: Whether the problem is in the property's name, not in its value.
    of_name: bool = False
    #: The faulty piece of the text at `pointer`, if it is not all of it.
    piece: str = field(default="", repr=False)
    #: Start and end, in characters of the text; known if the text is not JSON.
    span: tuple[int, int] | None = None
    #: Unknown properties whose problems this one replaces: their values are not shown either.
    unknown: frozenset[str] = field(default=frozenset(), repr=False)
    #: The likely name of a misspelt or misplaced property, which is not reported as missing.
    correct_name: str = field(default="", repr=False)
    #: Its certain fix.
    fix: Fix | None = field(default=None, repr=False)
    place: Place | None = field(default=None, repr=False)
    #: The address of its rule's page, if that is not only a file of the project.
    page: str = field(default="", repr=False)

    @property
    def rank(self) -> int:
        """Its rank by severity: errors first, hints last."""
        return _SEVERITIES.index(self.severity)

    def as_dict(self) -> dict[str, Any]:
        """The problem as JSON, for receipts and problem documents; with its place if that is known."""
        members: dict[str, Any] = {
            "code": self.code,
            "severity": self.severity,
            "pointer": self.pointer,
            "message": self.message,
            "remedy": self.remedy,
        }
        if self.place is None:
            return members
        # A fix is known to fit only once its place in the text is.
        patch = self.fix.patch() if self.fix else []
        members |= self.place.as_dict() | {"help": self.page or page_of(self.code)}
        return members | ({"patch": patch} if patch else {})

    def relocate(self, pointer: str, properties: str = "/properties") -> Problem:
        """The same problem, for a document that is a member of another (`/spec`).

        `properties` is the place of its properties, if that is not the usual one.
        """
        if not pointer and properties == "/properties":
            return self

        def relocated(place: str) -> str:
            inside = place.startswith("/properties")
            return pointer + (properties + place.removeprefix("/properties") if inside else place)

        fix = self.fix.relocate(relocated) if self.fix else None
        unknown = frozenset(map(relocated, self.unknown))
        return replace(self, pointer=relocated(self.pointer), fix=fix, unknown=unknown)


def page_of(code: str) -> str:
    """The page of a code, from the top of the project."""
    return f"docs/rules/{code}.md"


def with_pages(problems: Iterable[Problem], rules_url: str) -> tuple[Problem, ...]:
    """The problems with links to their pages below an address; "" leaves the paths in the project."""
    all_problems = tuple(problems)
    if not rules_url:
        return all_problems
    return tuple(replace(one, page=f"{rules_url.rstrip('/')}/{one.code}.md") for one in all_problems)


def has_errors(problems: Iterable[Problem]) -> bool:
    """Whether any of the problems stops the document; warnings and hints do not."""
    return any(problem.severity == "error" for problem in problems)


def unknown_properties(problems: Iterable[Problem]) -> frozenset[str]:
    """The pointers of all unknown properties: they may hold anything, so nothing of them is shown."""
    remaining = list(problems)
    named = {problem.pointer for problem in remaining if problem.code == "SW012"}
    return frozenset(named.union(*(problem.unknown for problem in remaining)))


def in_document_order(document: Any, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Errors first, then sorted by place, code and message: the same document always gives the same list."""
    remaining = set(problems)
    if len(remaining) < 2:
        return tuple(remaining)
    order = {node.pointer: index for index, node in enumerate(walk(document))}

    def place(problem: Problem) -> tuple[int, int, bool, str, str, str]:
        pointer = problem.pointer
        while pointer and pointer not in order:
            pointer = pointer.rpartition("/")[0]
        more = pointer != problem.pointer
        return problem.rank, order[pointer], more, problem.code, problem.pointer, problem.message

    return tuple(sorted(remaining, key=place))
