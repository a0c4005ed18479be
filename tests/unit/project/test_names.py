"""Names in the code are nouns for what they hold, or verbs for what they do."""

import ast
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("fence", "shared", "functions", "local", "slipway", "bench", "tests")

#: Prepositions, adverbs and participles that name nothing: what was found, who was told, where is here?
BARE = frozenset(
    {
        "asked",
        "found",
        "given",
        "gone",
        "kept",
        "known",
        "left",
        "made",
        "meant",
        "missing",
        "said",
        "seen",
        "sent",
    }
    | {"taken", "told", "wanted", "brought", "came", "got", "went", "look", "mend", "sound", "turn"}
    | {"here", "there", "into", "of", "on", "onto"}
)

#: Prepositions and adverbs that name no function or class; a variable `before` is the state before.
NO_ACTS = BARE | {
    *{"about", "above", "across", "along", "among", "around", "aside", "away", "back", "behind", "below"},
    *{"beneath", "beside", "between", "beyond", "down", "for", "from", "in", "inside", "near", "off", "out"},
    *{"outside", "over", "past", "through", "to", "toward", "under", "upon", "via", "with", "within"},
    "without",
}

#: Members that records and messages hold under such a name.
KEPT = {
    ("local/batchai/state/records.py", "made"),
    ("shared/answers/events.py", "said"),
    ("shared/core/job.py", "turn"),
    ("shared/core/notify/events.py", "said"),
}


def bound_names(tree: ast.AST) -> Iterator[str]:
    """What a file calls its functions, classes, parameters, variables and members."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs) and node.name:
            yield node.name
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname


def acts_of(tree: ast.AST) -> Iterator[str]:
    """What a file calls its functions and its classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def bare_names(path: str, source: str) -> set[str]:
    """The names of a file that no noun or verb is in; constants in capitals may name a state.

    `left` beside `right` is a side.
    """
    tree = ast.parse(source)
    names = {*bound_names(tree), Path(path).stem}
    sides = {"left"} if "right" in names else set()
    bare = {name for name in names if not name.isupper() and _plain(name) in BARE - sides}
    bare |= {name for name in acts_of(tree) if _plain(name) in NO_ACTS}
    return {name for name in bare if (path, name) not in KEPT and not name.startswith("__")}


def _plain(name: str) -> str:
    return name.strip("_").lower()


def test_a_name_is_no_bare_preposition_or_participle() -> None:
    files = [ROOT / "function_app.py", *chain(*((ROOT / name).rglob("*.py") for name in FOLDERS))]
    sources = {file.relative_to(ROOT).as_posix(): file.read_text() for file in files}

    bad = {path: names for path, text in sources.items() if (names := bare_names(path, text))}

    assert bad == {}


@pytest.mark.parametrize(
    "source",
    [
        *("found = 1", "def told(): ...", "def one(_asked): ...", "for here in (): ...", "import x as said"),
        *(
            "class Told: ...",
            "class _Seen: ...",
            "Found = dict",
            "def back(): ...",
            "class A:\n  def without(self): ...",
        ),
    ],
)
def test_such_a_name_is_seen_wherever_it_stands(source: str) -> None:
    assert bare_names("a.py", source)
