"""What a command prints: wherever a text is from, nothing in it moves the cursor of a terminal."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from slipway.terminal.characters import harmless, one_line, printable
from slipway.terminal.passing import PASSING

if TYPE_CHECKING:
    from rich.console import Console

_WHO = 24
#: So many columns cannot be read where lines wrap; what the last one, often a sentence, needs.
_MANY, _LAST = 4, 24
#: To how many columns another cell is shortened where the terminal is narrow, at least, and such a terminal.
_SHORTEST, _NARROWEST = 12, 40


@dataclass(frozen=True)
class Line:
    """One piece of news; `style` is a style of rich, seen on a terminal only."""

    who: str
    text: str
    style: str = ""


class Screen:
    """Writes lines as they come, the same to a terminal and to a file, but for the colours."""

    def __init__(self, console: "Console", clock: Callable[[], float]) -> None:
        self._console = console
        self._clock = clock
        self._began = clock()

    @property
    def seconds(self) -> float:
        """Seconds since the object was made."""
        return self._clock() - self._began

    def say(self, line: Line) -> None:
        """One line with its time."""
        from rich.text import Text

        row = Text()
        row.append(f"{self.seconds:6.1f} s  ", style="dim")
        row.append(f"{printable(line.who):<{_WHO}} ", style="bold" if line.style != "dim" else "dim")
        row.append(one_line(line.text), style=line.style)
        self.write(row)

    def heading(self, text: str) -> None:
        """An empty line and a title."""
        from rich.text import Text

        self.write("")
        self.write(Text(text, style="bold"))

    def write(self, text: object) -> None:
        """Anything, as it is: never wrapped, nothing in it taken for markup."""
        self._console.print(text, soft_wrap=True, markup=False, highlight=False, emoji=False)


def screen(clock: Callable[[], float]) -> Screen:
    """The screen on standard output."""
    from rich.console import Console

    return Screen(Console(), clock)


def put(*lines: str, colour: bool = False) -> None:
    """Lines of a command's output; with `colour` those that they have."""
    PASSING.clear()
    sys.stdout.writelines(f"{one_line(one, colour=colour)}\n" for one in lines)
    sys.stdout.flush()


def put_json(answer: Any, *, indent: int | None = 2) -> None:
    """The output of a command for programs, on one line without `indent`."""
    sys.stdout.write(f"{json_text(answer, indent=indent)}\n")
    sys.stdout.flush()


def json_text(answer: Any, *, indent: int | None = 2) -> str:
    """JSON, in which what cannot be printed is escaped: the same values, and harmless on a terminal."""
    text = json.dumps(answer, indent=indent, ensure_ascii=False)
    return "\n".join(
        one if one.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in one)
        for one in text.split("\n")
    )


def say(text: str) -> None:
    """A line beside the output of a command, on standard error."""
    remark(f"slipway: {text}")


def at_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirmed(question: str) -> bool:
    """Whether a person at the terminal says yes; no where there is none."""
    if not at_terminal():
        return False
    sys.stderr.write(f"{one_line(question, colour=False)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def remark(text: str) -> None:
    """Lines beside the output of a command that do not begin with its name."""
    PASSING.clear()
    sys.stderr.writelines(f"{harmless(one, colour=False)}\n" for one in text.split("\n"))
    sys.stderr.flush()


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows in columns; the first row is the head. A terminal that is too narrow gets a block for each row."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]))]
    room = widths[-1]
    if sys.stdout.isatty():
        needed = sum(widths[:-1]) + 2 * (len(widths) - 1) + min(widths[-1], _LAST)
        columns = shutil.get_terminal_size().columns
        if len(widths) >= _MANY and needed > columns:
            return _blocks(*rows)
        if (lacking := needed - max(columns, _NARROWEST)) > 0 and len(widths) > 1:
            widest = max(range(len(widths) - 1), key=widths.__getitem__)
            widths[widest] = max(_SHORTEST, widths[widest] - lacking)
            rows = [
                [shortened(cell, widths[n]) if n == widest else cell for n, cell in enumerate(row)]
                for row in rows
            ]
        if len(widths) > 1:
            room = max(_SHORTEST, columns - sum(widths[:-1]) - 2 * (len(widths) - 1))
    return [line.rstrip() for row in rows for line in _lines(row, widths, room)]


def _lines(row: Sequence[str], widths: Sequence[int], room: int) -> list[str]:
    """A row in columns; a last cell that needs more than its room goes on below itself."""
    *cells_before, last = row
    before = "".join(f"{padded(cell, width)}  " for cell, width in zip(cells_before, widths, strict=False))
    first, *others = _folded(last, room) if cells(last) > room else [last]
    return [before + first, *(" " * cells(before) + one for one in others)]


def _folded(text: str, width: int) -> list[str]:
    """A text in lines of so many columns; a word that is longer is shortened."""
    lines = [""]
    for word in (shortened(one, width) for one in text.split(" ")):
        if lines[-1] and cells(lines[-1]) + 1 + cells(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines


def _blocks(head: Sequence[str], *rows: Sequence[str]) -> list[str]:
    """Each row with the names of its cells beside them, and an empty line between rows."""
    width = max(map(cells, head))
    blocks = [
        ["", *(f"{padded(name, width)}  {cell}" for name, cell in zip(head, row, strict=True) if cell)]
        for row in rows
    ]
    return [line for block in blocks for line in block][1:]


def cells(text: str) -> int:
    """Columns of a terminal that a text takes: a character of Chinese, Japanese or Korean takes two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def columns_of(stream: BinaryIO) -> int:
    """The columns of the terminal of a stream: it has one also where standard output is a file."""
    try:
        own = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        own = 0
    return shutil.get_terminal_size((own or 80, 24)).columns


def padded(text: str, width: int) -> str:
    """The text, filled with spaces up to `width` columns."""
    return text + " " * (width - cells(text))


def shortened(text: str, width: int) -> str:
    """The text, printable, or its beginning and its end with an ellipsis between them, in `width` columns."""
    text = printable(text)
    if cells(text) <= width:
        return text
    from rich.cells import set_cell_size

    head = set_cell_size(text, (width - 1) // 2).rstrip()
    tail = text[-((width - 1) // 2) :]
    while cells(head) + 1 + cells(tail) > width:
        tail = tail[1:]
    return f"{head}…{tail}"


def cut(text: str, width: int) -> str:
    """The text, printable, or as much of it as fits into `width` columns, with an ellipsis after it."""
    text = printable(text)
    if cells(text) <= width:
        return text
    from rich.cells import set_cell_size

    return set_cell_size(text, max(0, width - 1)) + "…"
