"""Lines that read the same on a terminal and in a file."""

import ast
import fcntl
import io
import json
import os
import re
import struct
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from rich.console import Console

from slipway.terminal.characters import harmless
from slipway.terminal.screen import Line, Screen, cells, columns_of, json_text, put, remark, table

ROOT = Path(__file__).resolve().parents[4]
#: What writes to a stream by itself: a page of the documentation, bytes for another program (`cat`, a receipt
#: into a pipe), what clears the screen for `jobs --watch`, the question
#: after a Ctrl-C, and what GitHub reads.
BY_THEMSELVES = {"screen.py", "show.py", "listing.py", "ending.py", "__main__.py"}


def written(*lines: Line, terminal: bool) -> str:
    out = io.StringIO()
    clock: Iterator[float] = iter([10.0, 12.5, 13.0])
    colours: Literal["standard", "auto"] = "standard" if terminal else "auto"
    console = Console(file=out, force_terminal=terminal, color_system=colours, width=40, _environ={})
    screen = Screen(console, lambda: next(clock))
    for line in lines:
        screen.say(line)
    return out.getvalue()


def test_a_line_has_its_time_its_subject_and_no_colour_in_a_file() -> None:
    output = written(Line("setup", "[bold]made :smile: " + "x" * 60, "green"), terminal=False)

    assert output == "   2.5 s  setup                    [bold]made :smile: " + "x" * 60 + "\n"


def test_a_terminal_gets_colours_for_the_news_and_only_there() -> None:
    output = written(Line("setup", "made", "green"), Line("setup", "plain"), terminal=True)

    first, second = output.splitlines()
    assert "\x1b[32mmade\x1b[0m" in first
    assert second.endswith("\x1b[0mplain")


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert table([("job", "state"), ("digits-long", "ok"), ("x", "")]) == [
        "job          state",
        "digits-long  ok",
        "x",
    ]


def test_a_table_that_is_too_wide_for_its_terminal_is_a_block_of_lines_for_each_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [("node", "of", "state", "why"), ("a" * 20, "c", "idle", "x" * 90), ("b", "c", "", "")]
    block = [f"node   {'a' * 20}", "of     c", "state  idle", f"why    {'x' * 90}"]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "56")
    assert table(rows) == [*block, "", "node   b", "of     c"]

    monkeypatch.setenv("COLUMNS", "57")
    assert table(rows)[1] == f"{'a' * 20}  c   idle   {'x' * 11}…{'x' * 11}"
    monkeypatch.setenv("COLUMNS", "10")
    assert table([row[:3] for row in rows])[2] == f"b{' ' * 21}c"
    monkeypatch.setattr("sys.stdout.isatty", lambda: False)
    assert len(table(rows)) == 3


def test_a_long_name_is_shortened_in_the_middle_where_it_does_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [
        ("name", "bytes", "modified"),
        ("a" * 200 + "end.bin", "12", "2026-01-01 12:00:00"),
        ("b", "1", ""),
    ]
    assert max(map(len, table(rows))) > 200  # for a pipe
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")

    shown = table(rows)

    assert max(map(cells, shown)) == 60
    assert "…" in shown[1]
    assert "end.bin" in shown[1]
    assert max(map(cells, table([rows[0], ("漢" * 200, "12", "2026-01-01 12:00:00")]))) <= 60


@pytest.mark.parametrize("columns", [40, 50, 60])
def test_the_last_column_goes_on_below_itself(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "the cluster has no node of this size, " + "漢" * 60 + " and will have none"
    rows = [("job", "why"), ("digits", sentence), ("b" * 300, "short")]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))

    shown = table(rows)

    assert max(map(cells, shown)) <= columns
    assert len(shown) > 4
    words = " ".join(line[shown[0].index("why") :] for line in shown[1:-1])
    assert words.startswith("the cluster has no node of this size, ")
    assert words.endswith(" and will have none")


def test_a_stream_has_the_columns_of_its_terminal_also_where_standard_output_is_a_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    ours, theirs = os.openpty()
    with os.fdopen(ours, "wb"), os.fdopen(theirs, "wb") as stream, io.StringIO() as out:
        monkeypatch.setattr(sys, "__stdout__", out)
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
        assert columns_of(stream) == 50
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
        assert columns_of(stream) == 80
    assert columns_of(io.BytesIO()) == 80


def test_nothing_in_a_text_moves_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    text = "a\x1b[2Jb\x1b]0;t\x07c\rd\u202ee\x9b2Jf\x1b[31mg\n"

    put(text)
    put("\x1b[31mred\x1b[2J", colour=True)
    remark(text)

    out, err = capsys.readouterr()
    assert out == "ab\\x1b]0;t\\x07c\\rd\\u202ee\\x9b2Jfg\\n\n\x1b[31mred\x1b[0m\n"
    assert err == "ab\\x1b]0;t\\x07c\nd\\u202ee\\x9b2Jfg\n\n"
    assert json_text({text: [text, "ä\U000e0041"]}).replace("\n", "").isprintable()
    assert json.loads(json_text({text: [text, "ä\U000e0041"]})) == {text: [text, "ä\U000e0041"]}
    assert table([("name",), ("x\x1b[2J\ny",)])[1] == "x\\x1b[2J\\ny"


@pytest.mark.parametrize("sequence", ["8", "1;8", "08", "0;8;31", "38;5;8;8", "48;2;1;2;3;8"])
def test_no_sequence_conceals_text(sequence: str) -> None:
    assert harmless(f"a\x1b[{sequence}mb", colour=True) == "ab"


@pytest.mark.parametrize("sequence", ["", "0", "1;31", "38;5;8", "48;5;8;1", "38;2;8;8;8", "38:5:8"])
def test_colours_stay(sequence: str) -> None:
    assert harmless(f"a\x1b[{sequence}mb", colour=True) == f"a\x1b[{sequence}mb\x1b[0m"


@pytest.mark.long
def test_all_output_is_cleaned_in_one_place() -> None:
    writers = {
        path.name
        for path in (ROOT / "slipway").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and re.fullmatch(
            r"print|typer\.echo|sys\.std(out|err)(\.buffer)?\.write(lines)?", ast.unparse(node.func)
        )
    }
    assert writers == BY_THEMSELVES
