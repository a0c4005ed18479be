"""The words of a formula, each with its place. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from local.azurebatch.autoscale.values import FormulaError

_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<name>\$?[A-Za-z_]\w*)"
    r"|(?P<text>\"[^\"\n]*\")|(?P<mark>&&|\|\||[<>=!]=|[-+*/<>!?:=(),;.])",
    re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A number, a name, a text, a mark, or the end."""

    kind: str
    text: str
    line: int
    column: int

    def wrong(self, message: str) -> FormulaError:
        """An error at this place."""
        return FormulaError(f"Line {self.line}, Col {self.column}: {message}")


def tokens(text: str) -> Sequence[Token]:
    """The tokens of a formula, with the end. Raises FormulaError."""
    result: list[Token] = []
    position, line, start = 0, 1, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        column = position - start + 1
        if match is None:
            raise FormulaError(f"Line {line}, Col {column}: Unexpected character {text[position]!r}")
        if match.lastgroup != "space":
            result.append(Token(match.lastgroup or "", match[0], line, column))
        position = match.end()
        if lines := match[0].count("\n"):
            line, start = line + lines, match.start() + match[0].rfind("\n") + 1
    return [*result, Token("end", "", line, 1)]
