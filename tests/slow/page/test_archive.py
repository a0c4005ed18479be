"""What the page makes of the code of a job."""

from __future__ import annotations

from typing import Any

from tests.slow.page.programs import answer_of

#: What may be in an archive, and its two words beside the name.
_ENTRIES: list[tuple[dict[str, Any], list[str]]] = [
    ({"name": "train.py", "bytes": 2048}, ["2.0 KiB", ""]),
    ({"name": "run.sh", "bytes": 9, "executable": True}, ["9 B", "executable"]),
    (
        {"name": "caf\\xe9", "bytes": 1, "escaped": True},
        ["1 B", "with escapes: \\\\ is a backslash, \\xff a byte that is not UTF-8"],
    ),
    ({"name": "empty/", "bytes": 0}, ["folder", ""]),
    ({"name": "latest", "bytes": 0, "link": "a\u202eb"}, ["link", "to a\\u202eb"]),
    ({"name": "blank", "bytes": 0, "link": " "}, ["link", 'to " "']),
]
_OUTCOMES = {
    "200": "lists",
    "404": "asks again: why",
    "410": "shows: why",
    "422": "shows: why",
    "503": "asks again: why",
}


def test_each_entry_has_its_words_and_only_what_may_change_is_asked_for_again() -> None:
    entries = [entry for entry, _ in _ENTRIES]
    statuses = [int(one) for one in _OUTCOMES]

    shown = answer_of("archive.mjs", {"entries": entries, "statuses": statuses})

    assert shown["lines"] == [words for _, words in _ENTRIES]
    assert shown["outcomes"] == _OUTCOMES
