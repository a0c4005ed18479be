"""Sentences in the code and on the pages have plain words in the order of English."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from tests.slow.project.test_names import FOLDERS, ROOT, bindings

#: Words that no sentence of the project needs; the glossary says what to write.
VAGUE = frozenset({"whatever", "whoever", "nobody", "somebody", "anybody"})

#: "Is no host name" for "is not a host name". There is no such thing, and no one says otherwise any longer.
IS_NO = re.compile(r"(?i)(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|one\b)[\w`\"']+")
#: Two words of it; most texts have them nowhere, in no line.
_MAYBE = re.compile(r"(?i)\b(?:is|are|was|were)[\s#:/*]+no\b")
#: Where a sentence goes on in the next line of a comment.
_BREAK = re.compile(r"\s+(?:(?:#:?|//+|\*)\s+)?")


def vague_words(source: str) -> set[str]:
    """Those in the names, the comments and the docstrings of a file; a value may be one."""
    if not any(word in source.lower() for word in VAGUE):
        return set()
    tree = ast.parse(source)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = (token.string for token in tokens if token.type == tokenize.COMMENT)
    holders = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    docstrings = (ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, holders))
    texts = chain((name for _, name in bindings(ast.walk(tree))), comments, docstrings)
    return {word for text in texts for word in re.findall(r"[a-z]+", text.lower())} & VAGUE


def test_names_and_comments_have_plain_words() -> None:
    files = chain(*((ROOT / name).rglob("*.py") for name in FOLDERS))

    vague = {file.relative_to(ROOT).as_posix(): vague_words(file.read_text()) for file in files}

    assert {path: words for path, words in vague.items() if words} == {}


@pytest.mark.parametrize(
    "source", ["def test_whatever_comes(): ...", "A = 1  # nobody waits", 'def a():\n  """Whoever asks."""']
)
def test_a_vague_word_is_seen_in_names_comments_and_docstrings(source: str) -> None:
    assert vague_words(source)
    assert not vague_words("user = 'nobody'")


def _texts() -> Iterator[tuple[str, str]]:
    """By path: the code, and what people read of it."""
    folders = (*FOLDERS, "web/src", "infra", "docs", "examples", ".ci", ".github")
    kinds = (".py", ".ts", ".tsx", ".bicep", ".sh", ".md", ".yml", "")
    files = [path for name in folders for path in (ROOT / name).rglob("*") if path.suffix in kinds]
    for path in (*files, *ROOT.glob("*.md"), ROOT / "Makefile", ROOT / "pyproject.toml"):
        if path.is_file() and path != Path(__file__):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def is_no(text: str) -> list[str]:
    """What something is said to be "no" of."""
    return IS_NO.findall(_BREAK.sub(" ", text)) if _MAYBE.search(text) else []


def test_a_sentence_says_what_a_thing_is_not() -> None:
    texts = dict(_texts())

    assert len(texts) > 2000
    assert {path: hits for path, text in texts.items() if (hits := is_no(text))} == {}


@pytest.mark.parametrize(
    "text",
    ["'x' is no host name", "bytes that are no\n    # text", "it is no `job.json`", "These were no jobs."],
)
def test_the_wrong_order_is_seen(text: str) -> None:
    assert is_no(text)


@pytest.mark.parametrize(
    "text",
    ["there is no job", "There are\nno jobs", "it is no longer here", "there was no answer", "is not a job"],
)
def test_the_right_order_is_not(text: str) -> None:
    assert not is_no(text)
