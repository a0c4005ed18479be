"""What the page makes of a log that it follows: progress bars, and both streams of a process."""

from __future__ import annotations

import itertools
from typing import Any

from tests.slow.page.programs import answer_of

#: What a job writes, and the lines that are left of it.
_BARS = {
    "\re 1 [1/2]\re 1 [2/2]\nend\n": ["e 1 [2/2]", "end"],
    "a\r\nb\r\r\nc\n": ["a", "b", "c"],
    "50%\r   \rdone\n\r\n": ["done", ""],
    "a\n\r10%\r20%": ["a", "20%"],
    "10%\r20%\r": ["20%"],
}


def _lines(logs: list[list[str]]) -> list[list[tuple[bool, str]]]:
    """The lines that the page shows, and whether each is of standard error."""
    answers: list[list[Any]] = answer_of("log.mjs", logs)
    return [[(bool(is_error), str(line)) for is_error, line in answer] for answer in answers]


def _cuts(text: str) -> list[list[str]]:
    """The text in one part, and in two wherever they may meet; then with both streams at once."""
    ways = [(text,), *((text[:at], text[at:]) for at in range(1, len(text)))]
    one = [[f"o:{part}" for part in way] for way in ways]
    return [*one, *([*itertools.chain(*((part, f"e:{part[2:]}") for part in way))] for way in one)]


def test_a_progress_bar_is_one_line_wherever_a_part_of_it_ends() -> None:
    cases = [(cut, lines) for text, lines in _BARS.items() for cut in _cuts(text)]
    for (cut, lines), shown in zip(cases, _lines([cut for cut, _ in cases]), strict=True):
        assert [line for is_error, line in shown if not is_error] == lines, cut
        of_errors = [line for is_error, line in shown if is_error]
        assert of_errors == (lines if any(part.startswith("e:") for part in cut) else []), cut


def test_both_streams_are_shown_in_the_order_in_which_they_come() -> None:
    (shown,) = _lines([["o:1\n", "o:2\n", "e:3\n", "o:4\n5", "e:6\n7", "o:\n"]])
    assert shown == [
        (False, "1"), (False, "2"), (True, "3"), (False, "4"), (True, "6"), (False, "5"), (True, "7")
    ]  # fmt: skip
