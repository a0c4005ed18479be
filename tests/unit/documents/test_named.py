"""What a page names exists: options that stand alone, routes with their methods, files and folders."""

from __future__ import annotations

import re

import pytest

from slipway.cli_page import commands
from tests.unit.documents.corpus import PAGES, ROOT, code_of_pages
from tests.unit.openapi import DOCUMENT

COMMANDS = commands()
OPTIONS = {
    option
    for one in COMMANDS.values()
    for item in one.params
    for option in (*item.opts, *item.secondary_opts)
}
_ROUTE = re.compile(r"(?:\b(GET|POST|PUT|DELETE|PATCH|HEAD) )?(/api/[^\s`'\"|)<>&;,]*)")
_ROUTES = {
    re.compile(
        re.sub(r"\\\{[^}]*\\\}", r".*" if path.endswith("{path}") else r"[^/]+", re.escape(path))
    ): ways
    for path, ways in DOCUMENT["paths"].items()
}
_OPTION = re.compile(r"--[a-z][\w-]*")
#: One that stands alone, with its value at most.
_ALONE = re.compile(rf"{_OPTION.pattern}(?:[ =][^-]*)?$")
#: A path of the clone: what begins with a folder of it, and has no part that stands for something else.
_FILE = re.compile(r"(?<![\w/.$~*<{-])((?:[\w.-]+/)+[\w.-]*)(?![\w/*<{$…])")
#: Folders that programs make, and words that begin like a folder.
_BY_PROGRAMS = (".local/", "../", "./", "slipway/token", "slipway/ended", "shared/engines/NAME")
#: Options that stand alone and are of another program: whose they are.
_OF_OTHERS = {
    "pytest here": {"--all", "--cases"},
    "bench": {"--dropped", "--rate"},
    "chaos": {"--kill-every"},
    "the emulators": {
        *("--provisioning-seconds", "--idle-seconds", "--leaving-seconds", "--node-path", "--grace-seconds"),
    },
    "az": {"--account-name", "--account-key", "--min"},
    "azd": {"--purge", "--output"},
    "blobfuse": {"--container-name", "--config-file", "--file-cache-timeout-in-seconds"},
    "kubectl": {"--cascade"},
    "Slurm": {"--export", "--gres", "--partition"},
    "Jupyter and its like": {"--allow-root", "--listen"},
    "a person's script": {"--api-key", "--auth", "--cookie", "--lr", "--password", "--token"},
}


def wrong_route(method: str, path: str) -> bool:
    """Whether the API does not have it."""
    plain = re.split(r"[?#]", path)[0].rstrip(".:")
    ways = [ways for route, ways in _ROUTES.items() if route.fullmatch(plain)]
    return not any(not method or method in ("HEAD", *map(str.upper, one)) for one in ways)


def test_every_route_that_a_page_names_exists_with_its_method() -> None:
    routes = [(where, *match) for where, code in code_of_pages() for match in _ROUTE.findall(code)]

    assert len(routes) > 90
    assert [(where, *route) for where, *route in routes if wrong_route(*route)] == []


@pytest.mark.parametrize(
    ("method", "path"), [("", "/api/job"), ("DELETE", "/api/jobs/j_1"), ("GET", "/api/jobs/j_1/cancel")]
)
def test_a_route_that_does_not_exist_is_noticed(method: str, path: str) -> None:
    assert wrong_route(method, path)


def test_every_option_that_stands_alone_is_one_of_a_command() -> None:
    others = {option for options in _OF_OTHERS.values() for option in options}
    alone = {
        (where, code.split()[0].partition("=")[0]) for where, code in code_of_pages() if _ALONE.match(code)
    }

    assert len(alone) > 50
    assert sorted(one for one in alone if one[1] not in OPTIONS | others | {"--help"}) == []
    assert others - {option for _, option in alone} == set(), "no page names these any more"


def test_every_option_of_a_command_that_is_named_without_slipway_exists() -> None:
    """As in `run --hold`."""
    wrong, count = [], 0
    for where, code in code_of_pages():
        words = code.partition(" -- ")[0].split()
        name = next((one for one in (" ".join(words[:2]), *words[:1]) if one in COMMANDS), None)
        if name is None:
            continue
        own = {option for item in COMMANDS[name].params for option in (*item.opts, *item.secondary_opts)}
        options = [match[0] for word in words if (match := _OPTION.match(word))]
        count += len(options)
        wrong += [(where, code) for option in options if option not in own | {"--help"}]

    assert count >= 5
    assert wrong == []


def test_every_file_and_folder_of_the_clone_that_a_page_names_is_there() -> None:
    files = {
        (where, path)
        for where, code in code_of_pages()
        if "/rules/" not in where
        for path in _FILE.findall(code)
        if not path.startswith(_BY_PROGRAMS) and (ROOT / path.partition("/")[0]).exists()
    }

    assert len(files) > 150
    assert sorted((where, path) for where, path in files if not _is_there(path)) == []


def _is_there(path: str) -> bool:
    return (ROOT / path).exists() or (ROOT / f"{path}.py").exists()


def test_every_page_is_read() -> None:
    """Those that git has: none in another folder is left out."""
    shown = (".github", ".devcontainer")
    tops = [one for one in ROOT.iterdir() if not one.name.startswith(".") or one.name in shown]
    found_pages = [page for top in tops for page in ([top] if top.is_file() else top.rglob("*.md"))]
    pages = {one for one in found_pages if one.suffix == ".md" and "node_modules" not in one.parts}

    assert {str(one.relative_to(ROOT)) for one in pages - {*PAGES}} == set()
