"""Every command that a page or a message names exists, with its options."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from slipway import AsyncClient
from slipway.cli_page import PAGE, commands, page
from tests.unit.documents.corpus import ROOT, code_of_pages, texts_of_programs

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
COMMANDS = commands()
GROUPS = {name.partition(" ")[0] for name in COMMANDS if " " in name}

#: Where a command begins: alone, after a prompt, below `.venv/bin`, within `$(…)` or after an assignment.
_BEFORE = r"(?:^|[`($|;&] ?|(?<=\.venv/bin/)|^\w+=\S* )"
_SLIPWAY = re.compile(_BEFORE + r"slipway ([^`()|;&#]*(?:\|[^`();&#]*)?)")
#: The output of another command as an argument: options may follow it.
_SUBSTITUTION = re.compile(r"\$\([^()]*\)")
_MAKE = re.compile(_BEFORE + r"make ([^`()|;&#]+)")
_MODULE = re.compile(r"python[\d.]* (?:-W \w+ )?-m ([\w.]+)")


def _called(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Calls in the code of pages and in the quoted commands of messages."""
    for where, code in code_of_pages():
        yield from ((where, call) for call in pattern.findall(code))
        outer = _SUBSTITUTION.sub("VALUE", code)
        yield from ((where, call) for call in pattern.findall(outer if outer != code else ""))
    for where, text in texts_of_programs():
        for quoted in re.findall(r"`[^`]+`", text):
            yield from ((where, call) for call in pattern.findall(quoted))


def _words(call: str) -> list[str]:
    try:
        return shlex.split(call)
    except ValueError:  # an apostrophe of the sentence around it
        return call.split()


def _wrong(call: str) -> str | None:
    """What `slipway CALL` has that the commands do not."""
    words = _words(call.partition(" -- ")[0])  # what follows are arguments of a script
    named = [word for word in words[:1] if word in GROUPS] and words[1:2]
    subs = [f"{words[0]} {sub}" for sub in named[0].split("|")] if named else words[:1]
    if words[0].startswith("-") or (words[0] in GROUPS and words[1:] in ([], ["…"])):
        return None
    unknown = [name for name in subs if name not in COMMANDS]
    if unknown or not subs:
        return f"no command {unknown or call}"
    names = {"--help"}
    for item in (item for name in subs for item in COMMANDS[name].params):
        names |= {*item.opts, *item.secondary_opts}
    values = {word.partition("=")[0].rstrip(".,:") for word in words if re.match(r"--?[a-z]", word)}
    return f"no option {sorted(values - names)}" if values - names else None


def test_every_slipway_command_exists_with_its_options() -> None:
    calls = list(_called(_SLIPWAY))

    assert len(calls) > 80
    assert [f"{where}: slipway {call}: {_wrong(call)}" for where, call in calls if _wrong(call)] == []


@pytest.mark.parametrize(
    "call",
    ["explian job.json", "up --contianers host", "events lst JOB", "jobs --newest", "dead list|redrve"],
)
def test_a_misspelt_command_is_noticed(call: str) -> None:
    assert _wrong(call)


def test_no_message_names_a_command_that_does_not_exist() -> None:
    names = {*COMMANDS, *GROUPS, "command"}
    named = [
        (where, word)
        for where, text in texts_of_programs()
        for word in re.findall(r"\bslipway ([a-z][a-z-]+)\b", text)
    ]

    assert len(named) > 30
    assert [(where, word) for where, word in named if word not in names] == []


def test_every_make_target_and_variable_exists() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))
    variables = set(re.findall(r"\$\((?:if \$\()?([A-Z][A-Z_]*)", MAKEFILE)) | {"PYTHON", "PYTEST_FLAGS"}
    calls = list(_called(_MAKE))
    wrong = [
        f"{where}: make {call}"
        for where, call in calls
        for word in _words(call)
        if (re.fullmatch(r"[a-z][a-z-]*", word) and word not in targets)
        or (re.match(r"[A-Z_]+=", word) and word.partition("=")[0] not in variables)
    ]

    assert len(calls) > 50
    assert wrong == []


def test_every_module_that_a_page_runs_exists() -> None:
    modules = {(where, name) for where, code in code_of_pages() for name in _MODULE.findall(code)}
    ours = [
        (where, name)
        for where, name in modules
        if name.partition(".")[0] in ("bench", "local", "shared", "slipway", "tests")
    ]

    assert len(ours) > 10
    assert [(where, name) for where, name in ours if find_spec(name) is None] == []


def test_the_reference_of_the_command_line_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m slipway.cli_page"


@pytest.mark.parametrize("name", list(inspect.signature(AsyncClient.run).parameters)[3:])
def test_the_page_on_python_names_what_a_run_takes(name: str) -> None:
    text = (ROOT / "docs/how-to/use-from-python.md").read_text(encoding="utf-8")
    assert f"`{name}`" in text
