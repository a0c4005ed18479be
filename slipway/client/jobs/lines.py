"""Prints logs to standard output: lines with the rank of their process, or the unchanged bytes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TextIO

from slipway.client.jobs.processes import LONGEST
from slipway.failure import Failure
from slipway.terminal.characters import RESET, coloured, harmless, printable
from slipway.terminal.screen import json_text

#: The colours of the ranks, in turn: cyan, yellow, green, magenta, blue.
_RANK_COLOURS = (36, 33, 32, 35, 34)


@dataclass
class Printer:
    """Prints logs. A file or a pipe gets the job's bytes; a terminal gets nothing that moves its cursor."""

    stream: BinaryIO
    terminal: bool = False
    colour: bool = False
    #: prints only lines in which it matches
    grep: re.Pattern[str] | None = None
    #: formats the time before each line
    clock: Callable[[], str] | None = None
    #: file → the text after its last whole line, and its rank
    _rests: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    _ranks: list[str] = field(default_factory=list)

    def write(self, file: str, rank: str, data: bytes) -> None:
        """Print a part of a process's file; `rank` is "" for the only process."""
        if self._takes_bytes(rank):
            self.stream.write(data)
            return
        *lines, rest = (self._rests.pop(file, ("", b""))[1] + data).split(b"\n")
        while len(rest) > LONGEST:
            lines.append(rest[:LONGEST])
            rest = rest[LONGEST:]
        self._rests[file] = (rank, rest)
        for line in lines:
            self._line(file, rank, line)

    def finish(self) -> None:
        """Also print incomplete lines: nothing more comes, or a new run begins."""
        for file in list(self._rests):
            self.end(file)
        self.stream.flush()

    def end(self, file: str) -> None:
        """Finish one file, of which nothing more comes."""
        rank, rest = self._rests.pop(file, ("", b""))
        if rest:
            self._line(file, rank, rest)

    def _takes_bytes(self, rank: str) -> bool:
        return not rank and not self.terminal and self.grep is None and self.clock is None

    def takes(self, line: bytes) -> bool:
        """Whether it prints a line."""
        return self.grep is None or bool(self.grep.search(_text(line)))

    def _line(self, file: str, rank: str, line: bytes) -> None:
        if self.takes(line):
            self._print(file, rank, _text(line))

    def _print(self, file: str, rank: str, text: str) -> None:
        head = f"{self.clock()} " if self.clock else ""
        head += self._head(printable(rank) if self.terminal else rank) if rank else ""
        lines = harmless(text, colour=self.colour).split("\n") if self.terminal else [text]
        for one in lines:
            self.stream.write(f"{head}{one}\n".encode("utf-8", "surrogateescape"))

    def _head(self, rank: str) -> str:
        if rank not in self._ranks:
            self._ranks.append(rank)
        text = f"{rank:>{max(map(len, self._ranks))}} | "
        number = _RANK_COLOURS[self._ranks.index(rank) % len(_RANK_COLOURS)]
        return f"\x1b[{number}m{text}{RESET}" if self.colour else text


@dataclass
class JsonPrinter(Printer):
    """Prints an object for each line of the logs: its file, its rank if there are several, its text."""

    #: the first members of each object
    head: Mapping[str, Any] = field(default_factory=dict)

    def _takes_bytes(self, rank: str) -> bool:
        return False

    def _print(self, file: str, rank: str, text: str) -> None:
        ranked = {"rank": rank} if rank else {}
        timed = {"time": self.clock()} if self.clock else {}
        # A byte that is not UTF-8 appears as \\xff.
        line = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        one = {**self.head, "file": file, **ranked, **timed, "line": line}
        self.stream.write(f"{json_text(one, indent=None)}\n".encode())


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")


def printer_of(stream: TextIO, pattern: str = "", clock: Callable[[], str] | None = None) -> Printer:
    """The printer of logs to standard output. Raises Failure for an invalid pattern."""
    return Printer(stream.buffer, stream.isatty(), coloured(stream), compiled(pattern), clock)


def compiled(pattern: str) -> re.Pattern[str] | None:
    """The expression that selects lines; None for all of them. Raises Failure."""
    try:
        return re.compile(pattern) if pattern else None
    except re.error as error:
        raise Failure(f"{pattern} is not a regular expression: {error}") from error
