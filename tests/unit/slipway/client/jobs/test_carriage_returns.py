"""A progress bar in a log: one line that changes, wherever a part of it ends."""

import io
import itertools
import json
import re
from collections.abc import Callable, Sequence

import pytest

from slipway.client.jobs.lines import JsonPrinter, Printer
from slipway.terminal.passing import PASSING
from slipway.terminal.screen import cells, remark
from tests import breadth

#: What a job writes, and the lines that are left of it.
BARS = {
    "bar": (b"\re 1 [1/2]\re 1 [2/2]\nend\n", ["e 1 [2/2]", "end"]),
    "crlf": (b"a\r\nb\r\r\nc\n", ["a", "b", "c"]),
    "cleared": (b"\r50%\r   \rdone\n\r\n", ["done", ""]),
    "unended": (b"a\n\r10%\r20%", ["a", "20%"]),
    "at its end": (b"a\n10%\r20%\r", ["a", "20%"]),
    "plain": (b"a\nb", ["a", "b"]),
}
_COLOURS = re.compile(r"\x1b\[\d+m")
_CASES = [(name, parts) for name in BARS for parts in (1, 2, 3)]


def _cut(data: bytes, parts: int) -> Sequence[tuple[bytes, ...]]:
    """All ways to cut the bytes in so many parts."""
    ways = itertools.combinations(range(1, len(data)), parts - 1)
    return [tuple(data[a:b] for a, b in itertools.pairwise((0, *places, len(data)))) for places in ways]


def _text(printer: Printer) -> str:
    stream = printer.stream
    assert isinstance(stream, io.BytesIO)
    return stream.getvalue().decode()


def _printed(parts: Sequence[bytes], printer: Printer, rank: str = "", file: str = "stdout.txt") -> str:
    for part in parts:
        printer.write(file, rank, part)
        printer.flush()
    printer.finish()
    return _text(printer)


def _on_screen(text: str) -> list[str]:
    """The rows that a terminal shows in the end."""
    rows = [""]
    for part in text.replace("\r\x1b[K", "\f").splitlines(keepends=True):
        for piece in part.replace("\f", "\n\f").split("\n"):
            rows[-1] = piece[1:] if piece.startswith("\f") else rows[-1] + piece
        if part.endswith("\n"):
            rows.append("")
    return rows


KINDS: dict[str, Callable[[Sequence[bytes]], list[str]]] = {
    "pipe": lambda parts: _printed(parts, Printer(io.BytesIO())).replace("\r", "").splitlines(),
    "ranks": lambda parts: [
        line.removeprefix("0 | ").removeprefix("0 |")
        for line in _printed(parts, Printer(io.BytesIO()), "0").splitlines()
    ],
    "terminal": lambda parts: _printed(parts, Printer(io.BytesIO(), terminal=True)).splitlines(),
    "json": lambda parts: [
        json.loads(line)["line"] for line in _printed(parts, JsonPrinter(io.BytesIO())).splitlines()
    ],
}


@pytest.mark.parametrize(("name", "parts"), _CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_last_state_is_printed_wherever_a_part_ends(kind: str, name: str, parts: int) -> None:
    data, lines = BARS[name]
    for way in breadth.every_few(_cut(data, parts), parts):
        assert KINDS[kind](way) == lines, way


def test_a_terminal_shows_a_bar_as_it_changes_and_what_is_said_beside_it_on_a_line_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = io.BytesIO()
    printer = Printer(out, terminal=True, redraws=True)
    shown = []
    for part in (b"\r10%", b"\r20%\r", b"\r30%", b"\n"):
        printer.write("stderr.txt", "", part)
        printer.flush()
        shown.append(_on_screen(out.getvalue().decode()))
        if part == b"\r30%":
            remark("slipway: running")
            shown.append(_on_screen(out.getvalue().decode()))
    printer.finish()
    assert shown == [["10%"], ["20%"], ["30%"], [""], ["30%", ""]]
    assert capsys.readouterr().err == "slipway: running\n"


def test_of_several_bars_a_terminal_shows_the_one_that_changed_last_and_each_in_its_end() -> None:
    out = io.BytesIO()
    printer = Printer(out, terminal=True, redraws=True)
    shown = []
    for rank, part in (("0", b"\r1%"), ("1", b"\r2%"), ("0", b"\r3%"), ("1", b"\r4%\n"), ("0", b"\n")):
        printer.write(f"stderr-{rank}.txt", rank, part, is_error=True)
        printer.flush()
        shown.append(_on_screen(out.getvalue().decode()))
    assert shown == [
        ["0 ! 1%"], ["1 ! 2%"], ["0 ! 3%"], ["1 ! 4%", "0 ! 3%"], ["1 ! 4%", "0 ! 3%", ""]
    ]  # fmt: skip
    PASSING.clear()


@pytest.mark.parametrize("state", [b"x" * 500, b"\x1b[2J\x1b[10A50%", "\u202e\u4e2d".encode() * 200])
def test_what_a_terminal_shows_of_it_is_one_row_and_moves_no_cursor(state: bytes) -> None:
    out = io.BytesIO()
    printer = Printer(out, terminal=True, redraws=True)
    printer.write("stdout.txt", "", b"\r" + state)
    printer.flush()
    (row,) = _on_screen(out.getvalue().decode())
    assert "\x1b" not in row
    assert "\u202e" not in row
    assert len(row) < 80
    PASSING.clear()


@pytest.mark.parametrize("columns", [10, 24, 50, 80, 200])
@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("rank", ["", "1", "wk-10", "\x1b[31mx"])
def test_a_bar_that_changes_has_the_head_and_the_room_of_a_line_that_has_ended(
    rank: str, colour: bool, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    bar = " 42%|████      | 42/100 [00:12<00:17,  3.4it/s]"
    changes, ended = (
        Printer(io.BytesIO(), terminal=True, colour=colour, redraws=True, clock=lambda: "12:00:00")
        for _ in range(2)
    )
    changes.write("stderr.txt", rank, f"\r{bar}".encode(), is_error=True)
    changes.flush()
    row = _text(changes)
    ended.write("stderr.txt", rank, f"{bar}\n".encode(), is_error=True)
    PASSING.clear()

    line = _text(ended).removesuffix("\n")
    head, plain = line.removesuffix(bar), _COLOURS.sub("", row)
    assert cells(plain) <= columns - 1
    assert _COLOURS.sub("", line).startswith(plain[:4])
    assert row.count("\x1b") == (2 if colour and rank and row.startswith(head) else 0)
    if columns >= 50:
        assert row.startswith(f"{head} 42%")
        assert row.endswith("it/s]")
    if cells(_COLOURS.sub("", line)) < columns:
        assert row == line


@pytest.mark.parametrize("terminal", [False, True])
def test_of_a_file_nothing_is_left_out(terminal: bool) -> None:
    text = _printed([b"10%\r2", b"0%\nend"], Printer(io.BytesIO(), terminal=terminal, exact=True))
    assert text == ("10%\n20%\nend\n" if terminal else "10%\r20%\nend")


def test_a_bar_that_never_ends_is_held_in_a_bounded_size() -> None:
    out = io.BytesIO()
    printer = Printer(out)
    for number in range(20_000):
        printer.write("stderr.txt", "", b"\rstep %d of 20000" % number)
    printer.finish()
    assert out.getvalue() == b"step 19999 of 20000"
