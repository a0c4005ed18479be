"""The words of command lines: quotes as bash reads them, and every text can be read."""

from __future__ import annotations

import random
import shlex

import pytest

from shared.jobspec.text.shell import BARE, LIVE, QUOTED, words


def texts(command: str) -> list[str]:
    return [word.text for word in words(command)]


@pytest.mark.parametrize(
    "command",
    [
        "python train.py --epochs 3",
        "python 'my train.py' \"a b\" c\\ d",
        "a'b'\"c\"d\\e",
        '\'it\'\\\'\'s\' "say \\"hi\\"" "a\\b" "$X" \'\'',
        "  a\tb\nc  ",
        "python a+b,c=d:e@f%g^h~i!j.py",
        "'a#b' a#b",
        "\"a 'b' c\" 'a \"b\" c'",
        "é 訓練.py '👩\u200d🔬 x'",
    ],
)
def test_words_are_those_of_the_standard_library(command: str) -> None:
    assert texts(command) == [word for word in shlex.split(command) if word]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("a;b|c&&d||e&(f) `g h`", ["a", "b", "c", "d", "e", "f", "g", "h"]),
        ("a # b 'c\nd#e # f", ["a", "d#e"]),
        ("a \\\nb c\\\nd", ["a", "b", "cd"]),
        ('"a\\\nb"', ["ab"]),
        ("echo it's", ["echo", "it's"]),
        ('echo "a b', ["echo", '"a', "b"]),
        ("a\\", ["a"]),
        ("$(cat x) ${Y:-z}", ["$", "cat", "x", "${Y:-z}"]),
        ("", []),
    ],
)
def test_what_the_shell_ends_words_at(command: str, expected: list[str]) -> None:
    assert texts(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("run > a", [False, True]),
        ("run >>a b", [False, True, False]),
        ("run >| a 2>b 2>&1 c", [False, True, True, True, False]),
        ("run &> a < b", [False, True, False]),
        ("run 2>&1 | tee a", [False, True, False, False]),
    ],
)
def test_what_the_shell_writes_is_marked(command: str, expected: list[bool]) -> None:
    assert [word.written for word in words(command)] == expected


def test_each_character_says_how_the_shell_reads_it_and_where_it_stands() -> None:
    (word,) = words("a'b*'\"c$d\"\\*e*$F")

    assert word.text == "ab*c$d*e*$F"
    assert word.marks == BARE + QUOTED * 3 + LIVE + QUOTED * 2 + BARE + LIVE * 2 + BARE
    assert "".join("a'b*'\"c$d\"\\*e*$F"[at] for at in word.places) == word.text


def test_every_text_can_be_read() -> None:
    letters, chance = "ab'\"\\ \n#>;$`(*", random.Random(7)
    for _ in range(2_000):
        command = "".join(chance.choices(letters, k=chance.randrange(12)))
        for word in words(command):
            assert len(word.text) == len(word.marks) == len(word.places)
            assert "".join(command[at] for at in word.places) == word.text
