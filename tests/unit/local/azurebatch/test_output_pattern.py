"""Patterns of output files, by the words of the service's description of `filePattern`."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from itertools import product

import pytest

from local.azurebatch.run.output_pattern import match_path, parts_of

WORK = "/data/nodes/1/workitems/job/job-1/task/wd"
TASK = WORK.removesuffix("/wd")
ENV = {"AZ_BATCH_TASK_DIR": TASK, "RUN": "a*b", "LEVEL": "1"}


def matches(pattern: str, path: str) -> bool:
    whole = path if path.startswith("/") else f"{WORK}/{path}"
    return match_path(parts_of(pattern, WORK, ENV), whole.strip("/").split("/"))


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("abc*", ["abc", "abcdef", "abc.txt"], ["ab", "xabc", "abc/d", "d/abc"]),
        ("**/*.txt", ["a.txt", "d/a.txt", "d/e/f/a.txt"], [".a.txt", "d/.a.txt", "a.bin", "a.txt/b"]),
        ("**", ["a"], []),
        ("d/**/a", ["d/a", "d/e/a", "d/e/f/a"], ["a", "d/b", "e/a", "d/.cache/a"]),
        ("a?c", ["abc", "a.c", "a*c"], ["ac", "abbc", "a/c"]),
        ("[abc]x", ["ax", "bx"], ["dx", "x", "abx"]),
        ("[a-c]x", ["ax", "cx"], ["dx", "-x"]),
        ("[!abc]*.txt", ["xyz.txt", "d.txt"], ["abc.txt", "a.txt", ".x.txt"]),
        ("*.gif", ["a.gif"], [".a.gif"]),
        (".*.gif", [".a.gif"], ["a.gif"]),
        ("**/.env", [".env", "d/.env"], [".ssh/.env", "env"]),
        ("abc[*]", ["abc*"], ["abcd"]),
        ("x[]]y", ["x]y"], ["xy"]),
        ("x[^a]y", ["x^y", "xay"], ["xby"]),
        ("[a&&b]", ["a", "b", "&"], ["ab"]),
        ("[x", ["[x"], ["x"]),
        ("$AZ_BATCH_TASK_DIR/std*.txt", [f"{TASK}/stdout.txt"], ["stdout.txt"]),
        ("${LEVEL}/*", ["1/a"], ["2/a", "1"]),
        ("$RUN", ["a*b"], ["axb"]),
        ("$NONE/x", ["$NONE/x"], ["x", "NONE/x"]),
        ("../std*.txt", [f"{TASK}/stdout.txt"], ["stdout.txt"]),
        ("./a//b", ["a/b"], ["b"]),
        (f"{WORK}/*.txt", ["a.txt"], ["d/a.txt"]),
        ("/data/**/wd/a", ["a"], ["/other/wd/a"]),
    ],
)  # fmt: skip
def test_a_pattern_is_the_services(pattern: str, fitting: list[str], others: list[str]) -> None:
    assert [path for path in fitting if not matches(pattern, path)] == []
    assert [path for path in others if matches(pattern, path)] == []


def test_many_stars_over_a_long_name_take_a_bounded_number_of_steps() -> None:
    assert not matches("*a" * 14 + "b", "a" * 250)
    assert matches("*a" * 100, "a" * 250)
    assert not matches("/".join(["**"] * 60 + ["b"]), "/".join(["a"] * 200))
    assert not matches("**/*a" * 40 + "b", "/".join(["a" * 50] * 60))


def test_a_range_that_is_none_is_refused() -> None:
    with pytest.raises(re.error):
        parts_of("[z-a]", WORK, ENV)


def test_stars_and_single_letters_are_those_of_every_shell() -> None:
    texts = ["".join(one) for count in range(5) for one in product("ab*?", repeat=count)]
    names = ["".join(one) for count in range(5) for one in product("ab", repeat=count)]
    for text in texts:
        (part,) = parts_of(f"x{text}", "", {})[:1]
        for name in names:
            assert part.matches(f"x{name}") == fnmatchcase(f"x{name}", f"x{text}"), (text, name)
