"""A Bicep file as values: its declarations, and the symbols that it uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple


@dataclass(frozen=True)
class Finding:
    """A fault in a file, with line and column, as the compiler prints it."""

    file: str
    line: int
    column: int
    code: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}({self.line},{self.column}): {self.code}: {self.text}"


#: `choice`: one of its items, by the condition in its text. `union`: its items merged in order.
#: `code`: any other expression, which only Azure evaluates.
Kind = Literal["text", "bool", "int", "null", "array", "object", "choice", "union", "code"]


@dataclass(frozen=True)
class Value:
    """A value of a template. A string with interpolations has the kind `code`."""

    kind: Kind
    line: int
    column: int
    text: str = ""
    items: tuple[Value, ...] = ()
    members: Mapping[str, Value] = field(default_factory=dict)


class Loop(NamedTuple):
    """A loop over a list: the name of its variable, and the list."""

    variable: str
    items: Value


@dataclass(frozen=True)
class Resource:
    """A declared resource: `Type@version` with the types of its parents."""

    symbol: str
    type: str
    body: Value
    is_existing: bool
    #: the loop that creates several of it
    loop: Loop | None = None
    #: its condition; empty: always created
    condition: str = ""


@dataclass(frozen=True)
class Module:
    """A use of another file, with its arguments."""

    symbol: str
    path: str
    body: Value
    #: its condition; empty: always deployed
    condition: str = ""


@dataclass
class Template:
    """The declarations of one file."""

    file: str
    resources: list[Resource] = field(default_factory=list)
    modules: list[Module] = field(default_factory=list)
    #: name → its default
    parameters: dict[str, Value | None] = field(default_factory=dict)
    variables: dict[str, Value] = field(default_factory=dict)
    outputs: dict[str, Value] = field(default_factory=dict)
    #: syntax errors and duplicate members
    findings: list[Finding] = field(default_factory=list)
