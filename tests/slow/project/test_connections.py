"""Every connection of the app is opened in one room, which cancels no attempt to connect."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.slow.project.test_architecture import ROOT, deployed, nodes

#: What opens connections, or holds those that it opens, of aiohttp, azure-core and the standard library.
OPENERS = frozenset(
    {
        *("ClientSession", "TCPConnector", "UnixConnector", "BaseConnector", "start_connection"),
        *("AioHttpTransport", "AsyncioRequestsTransport", "create_connection", "open_connection"),
        *("sock_connect", "start_tls"),
    }
)
#: Programs of their own, which run on the nodes of a cluster, without an event loop.
ON_NODES = "shared/engines/node/"
OURS = "shared/connections/"


def openers(tree: Sequence[ast.AST]) -> Iterator[str]:
    """The lines that open a connection, or make what does."""
    clients = {
        alias.asname or alias.name
        for node in tree
        if isinstance(node, ast.ImportFrom) and f".{node.module}.".startswith(".azure.")
        if ".aio." in f".{node.module}."
        for alias in node.names
    }
    for node in tree:
        bases = node.bases if isinstance(node, ast.ClassDef) else []
        for base in [*bases, *([node.func] if isinstance(node, ast.Call) else [])]:
            if _last_name(base) in OPENERS:
                yield f"{base.lineno}: {ast.unparse(base)}"
        # A client of an SDK, made by its class or by a class method, opens its own unless it is given ours.
        if not clients or not isinstance(node, ast.Call):
            continue
        if ast.unparse(node.func).partition(".")[0] not in clients:
            continue
        if "transport" not in {keyword.arg for keyword in node.keywords}:
            yield f"{node.lineno}: {ast.unparse(node.func)} without transport="


def _last_name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def test_every_connection_of_the_app_is_opened_in_one_room() -> None:
    lines = [
        f"{name}:{line}"
        for path in deployed()
        for name in [path.relative_to(ROOT).as_posix()]
        if not name.startswith((ON_NODES, OURS))
        for line in openers(nodes(path))
    ]

    assert not lines, f"open it by shared/connections, which cancels no attempt to connect: {lines}"


def test_that_room_makes_them() -> None:
    """The names above are those that are used: a new name of aiohttp's or azure-core's fails here."""
    lines = [line for path in Path(ROOT / OURS).rglob("*.py") for line in openers(nodes(path))]

    assert {line.rpartition(".")[2].partition(": ")[2] or line.rpartition(".")[2] for line in lines} == {
        "ClientSession",
        "TCPConnector",
        "AioHttpTransport",
        "open_connection",
    }


@pytest.mark.parametrize(
    "code",
    [
        "import aiohttp\nasync with aiohttp.ClientSession() as http: pass",
        "from aiohttp import TCPConnector\nTCPConnector(limit=1)",
        "import aiohttp\nclass Mine(aiohttp.TCPConnector): pass",
        "import asyncio\nasyncio.open_connection('127.0.0.1', 1)",
        "from azure.identity.aio import DefaultAzureCredential\nDefaultAzureCredential()",
        "from azure.storage.blob.aio import BlobServiceClient as B\nB.from_connection_string('x')",
        "from azure.mgmt.batchai.aio import BatchAI\nBatchAI(None, 'x', retry_total=1)",
    ],
)
def test_another_way_to_connect_is_seen(code: str) -> None:
    assert list(openers(tuple(ast.walk(ast.parse(code)))))


def strict_sessions(tree: Sequence[ast.AST]) -> Iterator[int]:
    """The lines of sessions that refuse the long answers of a gateway."""
    for node in tree:
        if isinstance(node, ast.Call) and _last_name(node.func) == "ClientSession":
            spread = [ast.unparse(keyword.value) for keyword in node.keywords if keyword.arg is None]
            if not any("ANSWER_LIMITS" in one for one in spread):
                yield node.lineno


def test_every_session_takes_answers_to_which_a_gateway_added_its_headers() -> None:
    files = [path for room in ("shared", "slipway") for path in (ROOT / room).rglob("*.py")]
    strict = {path.relative_to(ROOT).as_posix(): [*strict_sessions(nodes(path))] for path in files}

    assert {path: lines for path, lines in strict.items() if lines} == {}
    assert list(strict_sessions(tuple(ast.walk(ast.parse("ClientSession(timeout=1, **options)")))))


def test_every_client_of_an_sdk_in_the_command_takes_such_answers_too() -> None:
    """Those of the local stack ask what runs on this machine."""
    files = [path for path in (ROOT / "slipway").rglob("*.py") if "stack" not in path.parts]
    lines = {
        path.relative_to(ROOT).as_posix(): [one for one in openers(nodes(path)) if "transport=" in one]
        for path in files
    }

    assert {path: strict for path, strict in lines.items() if strict} == {}


#: Where a lock is held while something is awaited, and why no caller waits long for it.
LOCKS = {
    "shared/engines/recent.py": "a look takes 2 s at most, and a failed one is the answer to those behind it"
}


def test_no_caller_waits_behind_a_lock_for_the_network() -> None:
    """Of callers that need one answer each would try in turn: shared/core/pacing/shared_call.py shares it."""
    holders = {
        path.relative_to(ROOT).as_posix()
        for path in deployed()
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"asyncio.Lock", "asyncio.Condition"}
    }

    assert holders == set(LOCKS)
