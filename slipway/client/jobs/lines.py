"""Prints logs: lines with the rank of their process, or the bytes of the only one.

Standard error of a job goes to that of the command. A carriage return begins a line again, and of such a line
only the last state is printed: a progress bar is one line, which a terminal shows as it changes.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple, TextIO

from slipway.client.jobs.processes import LONGEST, last_state
from slipway.failure import USAGE, Failure
from slipway.terminal.characters import RESET, coloured, harmless, printable
from slipway.terminal.passing import PASSING
from slipway.terminal.reader import check_reader
from slipway.terminal.screen import cells, columns_of, json_text, shortened

#: The colours of the ranks, in turn: cyan, yellow, green, magenta, blue.
_RANK_COLOURS = (36, 33, 32, 35, 34)
#: Columns that the text of a line which changes needs beside its start.
_NARROWEST = 12


class _Rest(NamedTuple):
    """What came of a file after its last whole line."""

    rank: str = ""
    is_error: bool = False
    data: bytes = b""


@dataclass
class Printer:
    """Prints logs. A file or a pipe gets the job's lines; a terminal gets none of its control sequences."""

    stream: BinaryIO
    terminal: bool = False
    colour: bool = False
    #: prints only lines in which it matches
    grep: re.Pattern[str] | None = None
    #: formats the time before each line
    clock: Callable[[], str] | None = None
    #: prints standard error; None if this one does
    errors: "Printer | None" = None
    #: whether the terminal shows a line that has not ended, until it has
    redraws: bool = False
    #: whether nothing is left out, also not what was overwritten: for a file that is not a log
    exact: bool = False
    _rests: dict[str, _Rest] = field(default_factory=dict)
    _ranks: list[str] = field(default_factory=list)

    def write(self, file: str, rank: str, data: bytes, *, is_error: bool = False) -> None:
        """Print a part of a process's file; `rank` is "" for the only process."""
        if is_error and self.errors is not None:
            self.errors.write(file, rank, data, is_error=True)
            return
        if self.exact and self._takes_bytes(rank):
            self.stream.write(data)
            return
        *lines, rest = (self._rests.pop(file, _Rest()).data + data).split(b"\n")
        rest = rest if self.exact else last_state(rest)
        if self._takes_bytes(rank):
            self.stream.write(b"".join(last_state(line) + b"\n" for line in lines))
            if len(rest) > LONGEST:
                self.stream.write(rest)
                rest = b""
        else:
            while len(rest) > LONGEST:
                lines.append(rest[:LONGEST])
                rest = rest[LONGEST:]
            for line in lines:
                self._line(file, _Rest(rank, is_error, line))
        if rest:
            self._rests[file] = _Rest(rank, is_error, rest)

    def flush(self) -> None:
        """Pass on what was printed; a terminal also shows the line that changed last and has not ended.

        Raises BrokenPipeError if nothing reads it any more.
        """
        self.stream.flush()
        check_reader(self.stream)
        if self.redraws and self._rests:
            *_, last = self._rests.values()
            if self.takes(last.data):
                PASSING.show(self.stream, self._row(last, columns_of(self.stream) - 1))
        if self.errors is not None:
            self.errors.flush()

    def finish(self) -> None:
        """Also print incomplete lines: nothing more comes, or a new run begins."""
        for file in list(self._rests):
            self.end(file)
        self.stream.flush()
        if self.errors is not None:
            self.errors.finish()

    def end(self, file: str) -> None:
        """Finish one file, of which nothing more comes."""
        rest = self._rests.pop(file, _Rest())
        if rest.data and self._takes_bytes(rest.rank):
            self.stream.write(rest.data)
        elif rest.data:
            self._line(file, rest)
        if self.errors is not None:
            self.errors.end(file)

    def _takes_bytes(self, rank: str) -> bool:
        return not rank and not self.terminal and self.grep is None and self.clock is None

    def takes(self, line: bytes) -> bool:
        """Whether it prints a line."""
        return self.grep is None or bool(self.grep.search(_shown(line)))

    def _line(self, file: str, line: _Rest) -> None:
        if self.takes(line.data):
            self._print(file, line)

    def _print(self, file: str, line: _Rest) -> None:
        if self.terminal:
            PASSING.clear()
        time, rank = self._time(), self._start(line)
        text = f"{time}{self._painted(rank, line)}{self._text(line)}\n"
        self.stream.write(text.encode("utf-8", "surrogateescape"))

    def _text(self, line: _Rest) -> str:
        text = line.data.decode("utf-8", "surrogateescape") if self.exact else _shown(line.data)
        return harmless(text, colour=self.colour) if self.terminal else text

    def _row(self, line: _Rest, width: int) -> str:
        """A line in so many columns, of whose colours only that of its rank is left."""
        time, rank = self._time(), self._start(line)
        text = harmless(self._text(line), colour=False).replace("\t", " ")
        if (room := width - cells(time + rank)) < _NARROWEST:
            return shortened(time + rank + text, width)
        return time + self._painted(rank, line) + shortened(text, room)

    def _time(self) -> str:
        return f"{self.clock()} " if self.clock else ""

    def _start(self, line: _Rest) -> str:
        """The rank before the text of a line, with ! for standard error; "" for the only process."""
        if not line.rank:
            return ""
        rank = self._rank(line)
        if rank not in self._ranks:
            self._ranks.append(rank)
        return f"{rank:>{max(map(len, self._ranks))}} {'!' if line.is_error else '|'} "

    def _painted(self, text: str, line: _Rest) -> str:
        """The text in the colour of the rank of a line."""
        if not self.colour or not line.rank:
            return text
        number = _RANK_COLOURS[self._ranks.index(self._rank(line)) % len(_RANK_COLOURS)]
        return f"\x1b[{number}m{text}{RESET}"

    def _rank(self, line: _Rest) -> str:
        return printable(line.rank) if self.terminal else line.rank


@dataclass
class JsonPrinter(Printer):
    """Prints an object for each line of the logs: its file, its rank if there are several, its text."""

    #: the first members of each object
    head: Mapping[str, Any] = field(default_factory=dict)

    def _takes_bytes(self, rank: str) -> bool:
        return False

    def _print(self, file: str, line: _Rest) -> None:
        ranked = {"rank": line.rank} if line.rank else {}
        timed = {"time": self.clock()} if self.clock else {}
        # A byte that is not UTF-8 appears as \\xff.
        text = _shown(line.data).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        one = {**self.head, "file": file, **ranked, **timed, "line": text}
        self.stream.write(f"{json_text(one, indent=None)}\n".encode())


def _shown(line: bytes) -> str:
    """A line as a terminal shows it in the end."""
    return last_state(line).rstrip(b"\r").decode("utf-8", "surrogateescape")


def printer_of(
    out: TextIO,
    err: TextIO | None = None,
    pattern: str = "",
    clock: Callable[[], str] | None = None,
    *,
    exact: bool = False,
) -> Printer:
    """The printer of logs to standard output and, if given, error. Raises Failure for an invalid pattern."""
    grep, ranks = compiled(pattern), list[str]()

    def one(stream: TextIO, errors: Printer | None = None) -> Printer:
        terminal, colour = stream.isatty(), coloured(stream)
        redraws = terminal and not exact and os.environ.get("TERM") != "dumb"
        return Printer(stream.buffer, terminal, colour, grep, clock, errors, redraws, exact, _ranks=ranks)

    return one(out, one(err) if err is not None else None)


def compiled(pattern: str) -> re.Pattern[str] | None:
    """The expression that selects lines; None for all of them. Raises Failure."""
    try:
        return re.compile(pattern) if pattern else None
    except re.error as error:
        raise Failure(f"{pattern} is not a regular expression: {error}", USAGE) from error
