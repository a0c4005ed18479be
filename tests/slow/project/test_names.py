"""Names in the code are nouns for what they hold, or verbs for what they do."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.slow.project.test_architecture import nodes

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("confined", "shared", "functions", "local", "slipway", "bench", "tests")

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

#: Prepositions and adverbs that name no function, class or constant; a variable `before` is the state before.
NO_ACTS = BARE | {
    *{"about", "above", "across", "along", "among", "around", "aside", "away", "back", "behind", "below"},
    *{"beneath", "beside", "between", "beyond", "down", "for", "from", "in", "inside", "near", "off", "out"},
    *{"outside", "over", "past", "through", "to", "toward", "under", "upon", "via", "with", "within"},
    "without",
}

#: Adverbs that name no function or class of the source; a step in the story of a test may be one.
ADVERBS = frozenset(
    {"after", "again", "apart", "at", "elsewhere", "everywhere", "later", "nowhere", "often", "once"}
    | {"since", "soon", "then", "together", "twice", "when", "where", "yet"}
)

#: The kinds of nodes that bind a name, and the member that holds it.
_BINDERS: dict[type[ast.AST], str] = {
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler), "name"),
    **{ast.MatchAs: "name", ast.Name: "id", ast.Attribute: "attr", ast.arg: "arg", ast.alias: "asname"},
}
_ACTS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def bindings(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
    """What a file calls its functions, classes, parameters, variables and members, and what binds each."""
    for node in nodes:
        member = _BINDERS.get(type(node))
        name = member and getattr(node, member)
        if name and isinstance(getattr(node, "ctx", None), ast.Store | None):
            yield node, name


class Names(NamedTuple):
    """What the tests ask of a file: each is read once for all of them."""

    bound: frozenset[str]
    bare: frozenset[str]
    echoes: frozenset[str]


@cache
def names_of_files() -> Mapping[str, Names]:
    """By path, of every file of Python."""
    files = [ROOT / "function_app.py", *chain(*((ROOT / name).rglob("*.py") for name in FOLDERS))]
    return {file.relative_to(ROOT).as_posix(): _names_of(file) for file in files}


def _names_of(file: Path) -> Names:
    path = file.relative_to(ROOT).as_posix()
    # Only tests of names look at tests.
    parts = tuple(ast.walk(ast.parse(file.read_text()))) if path.startswith("tests/") else nodes(file)
    bound = list(bindings(parts))
    bare = _bare(path, bound)
    return Names(frozenset(name for _, name in bound), frozenset(bare), frozenset(echoes(parts)))


def bare_names(path: str, source: str) -> set[str]:
    """The names of a file that no noun or verb is in. `left` beside `right` is a side."""
    return _bare(path, list(bindings(ast.walk(ast.parse(source)))))


def _bare(path: str, bound: Sequence[tuple[ast.AST, str]]) -> set[str]:
    names = {*(name for _, name in bound), Path(path).stem}
    # Functions, classes and constants.
    acts = {
        name
        for node, name in bound
        if isinstance(node, _ACTS) or (isinstance(node, ast.Name) and name.isupper())
    }
    sides = {"left"} if "right" in names else set()
    bare = {name for name in names if _plain(name) in BARE - sides}
    bare |= {name for name in acts if _plain(name) in NO_ACTS}
    if not path.startswith("tests/"):
        bare |= {name for node, name in bound if isinstance(node, _ACTS) and _plain(name) in ADVERBS}
    return {name for name in bare if not name.startswith("__")}


def _plain(name: str) -> str:
    return name.strip("_").lower()


#: What TypeScript calls its functions, its types and its variables.
_BINDING = re.compile(r"\b(function|class|interface|type|const|let)\s+(\w+)\b(?:\s*=\s*(?:async )?(\(|<))?")


def bare_names_of_the_page(source: str) -> set[str]:
    """The names of a file of TypeScript that no noun or verb is in."""
    return {
        name
        for kind, name, is_act in _BINDING.findall(source)
        if _plain(name) in (BARE if kind in ("const", "let") and not is_act else NO_ACTS)
    }


#: Words that add nothing to a name.
_FILLERS = {
    "a",
    "all",
    "an",
    "every",
    "from",
    "in",
    "is",
    "it",
    "its",
    "of",
    "one",
    "that",
    "the",
    "this",
    "to",
}


def echoes(nodes: Iterable[ast.AST]) -> set[str]:
    """The functions and classes whose docstring has no word that is not in their name already."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            words = {*re.findall(r"\w+", (ast.get_docstring(node) or "").lower())} - _FILLERS
            name = "_".join(re.findall(r"[A-Z]?[a-z]+|[A-Z]+", node.name)).lower().split("_")
            names |= {node.name} if words and words <= {*name, *(f"{word}s" for word in name)} else set()
    return names


def test_a_docstring_says_more_than_the_name() -> None:
    sources = {path: names for path, names in names_of_files().items() if not path.startswith("tests/")}

    assert len(sources) > 500
    assert {path: names.echoes for path, names in sources.items() if names.echoes} == {}


def test_a_docstring_that_repeats_the_name_is_seen() -> None:
    source = 'def get_cluster():\n  """Get the cluster."""\nclass ColdStart:\n  """The cold start."""'

    assert echoes(ast.walk(ast.parse(source))) == {"get_cluster", "ColdStart"}


def test_a_name_is_no_bare_preposition_or_participle() -> None:
    assert {path: names.bare for path, names in names_of_files().items() if names.bare} == {}


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
            "_TAKEN = 422",
            "BESIDE = ()",
            "self._known = {}",
            "def _again(): ...",
            "class A:\n  def at(self): ...",
        ),
    ],
)
def test_such_a_name_is_seen_wherever_it_stands(source: str) -> None:
    assert bare_names("a.py", source)


#: Where every name is about a delivery, and where about a job: a delivery has tries, a job has attempts.
OF_DELIVERIES = re.compile(
    r"shared/(delivery/(?!receipt\.py|last_lines)|core/notify/|adapters/webhook/|answers/events)"
    r"|shared/operate/re(ceivers|deliver)|functions/events\.py|slipway/commands/events\.py"
)
OF_JOBS = re.compile(r"shared/(lifecycle|engines)/")


def names_with(word: str, rooms: re.Pattern[str]) -> dict[str, set[str]]:
    """The names in the files of some rooms that have this word in them."""
    files = {path: names.bound for path, names in names_of_files().items() if rooms.match(path)}
    assert len(files) > 20
    words = {
        path: {name for name in names if word in name.lower().split("_")} for path, names in files.items()
    }
    return {path: names for path, names in words.items() if names}


@pytest.mark.parametrize(
    ("word", "rooms"),
    [("attempt", OF_DELIVERIES), ("attempts", OF_DELIVERIES), ("tries", OF_JOBS), ("try", OF_JOBS)],
)
def test_a_delivery_has_tries_and_a_job_has_attempts(word: str, rooms: re.Pattern[str]) -> None:
    assert names_with(word, rooms) == {}


#: Words with one meaning, and rooms where they could only have another: a sweep is jobs of one template (the
#: timer is the sweeper, and makes a pass), and an answer comes from a called party (files are receipts).
ELSEWHERE = {
    "sweep": re.compile(
        r"(shared/(engines|admission|setting_table)|local|bench|confined)/"
        r"|shared/lifecycle/(?!job_sweeps/|archive|collect|grants|sweeper)"
    ),
    "answer": re.compile(
        r"shared/(intake/(drops/|receipt_path)|delivery/receipt|adapters/storage/drops)"
        r"|slipway/(client/drops/|stack/demo)"
    ),
}


@pytest.mark.parametrize("word", sorted(ELSEWHERE))
def test_a_word_has_one_meaning(word: str) -> None:
    files = {path: names.bound for path, names in names_of_files().items() if ELSEWHERE[word].match(path)}
    forms = re.compile(rf"{word}s?|swept|sweeping" if word == "sweep" else rf"{word}s?")

    assert len(files) > 5
    assert {
        path: bad
        for path, names in files.items()
        if (bad := {name for name in names if any(map(forms.fullmatch, name.lower().split("_")))})
    } == {}


@pytest.mark.parametrize("stem", ["records", "waits", "store"])
def test_no_two_modules_have_one_of_these_names(stem: str) -> None:
    assert len([path for path in names_of_files() if Path(path).stem == stem]) <= 1


def test_a_name_of_the_page_is_no_bare_preposition_or_participle() -> None:
    files = [path for path in (ROOT / "web" / "src").rglob("*.ts*") if path.is_file()]

    bad = {path.name: names for path in files if (names := bare_names_of_the_page(path.read_text()))}

    assert files
    assert bad == {}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("export function between(a: Date): number {", {"between"}),
        ("const inside = (name: string) => name;", {"inside"}),
        ("let known = 1;", {"known"}),
        ("const before = feed.last;", set()),
    ],
)
def test_such_a_name_of_the_page_is_seen(source: str, names: set[str]) -> None:
    assert bare_names_of_the_page(source) == names
