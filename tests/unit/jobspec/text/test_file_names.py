"""Which names of files are refused, with the reason; everybody who judges names judges alike."""

from __future__ import annotations

import sys

import pytest

from local.names import is_name
from shared.core.visible import is_askable
from shared.engines.node.kept.left_out import REFUSED
from shared.jobspec import character_flaw, is_ignored, is_left_over, is_met_by, name_flaw, read_envelope

#: Names that storage carries, and its clients ask for: read back as they were written.
CARRIED = (
    *(
        "my train.py",
        "entraîner.py",
        "entrai\u0302ner.py",
        "a+b&c;d=e#f?.py",
        "100%.py",
        "p%2Fq.py",
        "~",
        "-c",
    ),
    *(
        "実験\u30001",
        "my\u00a0project",
        "1.00\u202fPM.csv",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    ),
    *(
        "\U0001f469\u200d\U0001f52c",
        "co\u00adop",
        "\ue000",
        "\U000e0fff",
        "a\u200eb",
        "x" * 255,
        "a" + "/a" * 500,
    ),
)


@pytest.mark.parametrize("name", CARRIED, ids=ascii)
def test_a_name_that_storage_carries_has_no_flaw(name: str) -> None:
    assert name_flaw(name) == ""
    assert is_askable(name)
    assert "/" in name or is_name(name)


@pytest.mark.parametrize(
    ("name", "flaw"),
    [
        ("a\\b", "has a backslash, which clients turn into a slash"),
        ("a\x1bb", "has the control character U+001B, which storage does not allow"),
        ("a\u0081", "has the control character U+0081, which storage does not allow"),
        ("\ud800", "has half of a surrogate pair, U+D800, which UTF-8 cannot hold"),
        ("a\uffff", "has the character U+FFFF, which the lists of storage cannot hold"),
        ("a\u202eb", "has the character U+202E (RIGHT-TO-LEFT OVERRIDE), which hides or reorders"),
        ("a\u200bb", "has the character U+200B (ZERO WIDTH SPACE), which hides or reorders"),
        ("a\u2028b", "has the character U+2028 (LINE SEPARATOR), which breaks the line"),
        ("a//b", "has an empty level, which no file system shows"),
        ("/a", "begins with a slash, which clients leave out"),
        ("a/../b", 'has ".." as a level, which clients resolve before they ask'),
        ("./b", 'has "." as a level, which clients resolve before they ask'),
    ],
)
def test_a_name_that_is_refused_has_its_true_reason(name: str, flaw: str) -> None:
    assert name_flaw(name).startswith(flaw)
    assert name_flaw(name).isprintable()
    assert character_flaw(name) in ("", name_flaw(name))


@pytest.mark.long
def test_the_nodes_and_the_local_storage_judge_every_character_alike() -> None:
    characters = "".join(map(chr, range(sys.maxunicode + 1)))
    refused = {one for one in characters if character_flaw(one)}
    local = {one for one in characters if one not in "/." and not is_name(one)}

    assert {one for one in characters if REFUSED.search(one)} == refused
    assert local <= refused
    # Storage carries these; people misread them, or clients change them.
    assert refused - local == set(
        "\\\u200b\u2060\ufeff\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )


@pytest.mark.parametrize(
    ("name", "hidden", "ignored"),
    [
        ("a/b.py", False, False),
        ("a/b..py", False, False),
        (".env", True, True),
        ("a/.git/b", True, True),
        ("a/..b", True, True),
        ("__pycache__/a.pyc", True, True),
        ("a/__pycache__", True, True),
        ("a__pycache__/b", False, False),
        ("a/../b", False, True),
        ("a/./b", False, True),
        ("a//b", False, True),
        ("a\u200b/b", False, True),
    ],
)
def test_what_is_part_of_no_drop_meets_no_need_of_one_and_is_no_folder_of_code(
    name: str, hidden: bool, ignored: bool
) -> None:
    message = {"spec": {}, "code": {"folder": f"scripts/{name}"}}

    assert (is_left_over(name), is_ignored(name)) == (hidden, ignored)
    assert is_met_by("/".join("*" for _ in name.split("/")), name) is not ignored
    for document, drop in (({"needs": [name]}, True), (message, False)):
        assert bool(read_envelope(document, drop=drop).problems) is ignored
