"""Lists of what nodes did not upload, as a job may have written them."""

from __future__ import annotations

import json

import pytest

from shared.engines.batch.storage.left_out import _entries
from shared.engines.node.kept.entries import REASONS


def test_each_kind_is_an_entry_that_no_request_reads() -> None:
    content = json.dumps({f"M/deep/{kind}": kind for kind in REASONS}).encode()

    entries = {one.name: one for one in _entries(content, "M/deep")}

    assert entries.keys() == REASONS.keys()
    assert all(one.size is None and one.link is not one.left_out for one in entries.values())
    assert {name for name, one in entries.items() if one.link} == {"out", "nowhere", "special", "above"}


def test_only_what_is_in_the_folder_itself_is_listed() -> None:
    content = json.dumps(dict.fromkeys(["M/a", "M/deep/b", "M", "a", "/M/c", "M/", "X/d"], "pipe")).encode()
    assert [one.name for one in _entries(content, "M")] == ["a"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b"\xff",
        b"[" * 100_000,
        b'{"M/a": []}',
        b'{"M/a": {"pipe": 1}}',
        b'{"M/a": "other"}',
        b"1",
    ],
    ids=range(9),
)
def test_what_is_no_list_lists_nothing(content: bytes) -> None:
    assert list(_entries(content, "M")) == []


def test_a_name_is_shown_without_what_it_would_do() -> None:
    (entry,) = _entries(json.dumps({"M/a\x1b[2J": "unkept"}).encode(), "M")
    assert entry.name.isprintable()
