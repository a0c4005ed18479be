"""Raw requests get the answers that Azure's host gave, but for the differences below, each with its reason.

answers.json was recorded from azure-functions-host 4.1037, as Flex Consumption, over the app beside it.
A difference that is gone has to be taken off the list.
"""

import asyncio
import json
from collections import ChainMap
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.contract.host.raw import answer_to, recorded
from tests.contract.host.world import ANY_RUNTIME, Storage, environment_of, running

pytestmark = pytest.mark.asyncio(loop_scope="session")

_PROBE = Path(__file__).with_name("probe")


class Ours(NamedTuple):
    """What the local host answers instead: its status, words of its body, and why."""

    status: int
    words: str
    why: str


_PARSER = "aiohttp refuses it, and says why; Kestrel is looser, or says nothing"
_ADMIN = "the local host has less of the host's own API: status, ping, functions, runs by hand, events"
DIFFERENCES = {
    "Origin foreign": Ours(403, "sent this request", "pages of other sites are refused: local/border.py"),
    "Host foreign": Ours(403, "not a name of this machine", "names of other machines are: local/border.py"),
    "http 0.9": Ours(403, "not a name of this machine", "it has no Host: local/border.py"),
    "absolute form other host": Ours(
        200, '"function": "echo"', "aiohttp does not compare it with Host, which the border checks"
    ),
    "path root": Ours(404, '""', "without Azure's start page, as with AzureWebJobsDisableHomepage"),
    "answer str empty": Ours(200, '" "', "the other runtime trims a text of one space"),
    "reply: location absolute": Ours(500, '""', "the same 500, whose Content-Type only Azure's host keeps"),
    "run http": Ours(400, "call /api/onlyget instead", "says how it is called; in Azure the run fails later"),
    "run queue object": Ours(400, "the input must be a text", "the same 400, and says why"),
    "run not json": Ours(400, "the body must be JSON", "the same 400, and says why"),
    "run list": Ours(400, "the body must be JSON", "the same 400, and says why"),
    "method CONNECT": Ours(404, "Not Found", "the same 404, and aiohttp says so"),
    "Host missing": Ours(400, "Host", _PARSER),
    "Host twice": Ours(400, "Host", _PARSER),
    **dict.fromkeys(
        ("method FOO echo", "method get echo", "method FOO onlyget"), Ours(400, "method", _PARSER)
    ),
    **dict.fromkeys(("path non-ASCII raw", "query raw non-ASCII"), Ours(400, "Invalid char", _PARSER)),
    **dict.fromkeys(("header control", "header bad name"), Ours(400, "Invalid header", _PARSER)),
    **dict.fromkeys(
        ("body chunked and length", "body two lengths", "body length negative"),
        Ours(400, "Content-Length", _PARSER),
    ),
    "bare LF": Ours(400, "CRLF", _PARSER),
    "http 2 preface": Ours(400, "PRI", _PARSER),
    **dict.fromkeys(
        ("own GET /admin/functions/echo master", "own GET /admin/functions/ECHO master"),
        Ours(200, '"invoke_url_template": "http://127.0.0.1:PORT/api/echo/{*path}"', _ADMIN),
    ),
    **dict.fromkeys(
        (
            *("own GET /admin/host/keys", "own GET /admin/host/keys key", "own GET /admin/host/keys master"),
            *("own GET /admin/instance/info key", "own GET /admin/instance/info master"),
        ),
        Ours(404, '""', _ADMIN),
    ),
}
_TRACED = (
    "GET /api/context HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n"
    "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n"
)
#: Requests at a time, and seconds after which one that Azure's host did not answer has no answer here.
_ABREAST, _SILENCE = 8, 3.0


async def test_each_recorded_request_is_answered_as_by_azures_host(storage: Storage) -> None:
    entries = json.loads((_PROBE / "answers.json").read_text(encoding="utf-8"))
    keys = {"LOCAL_HOST_FUNCTION_KEY": "FUNCTION_KEY", "LOCAL_HOST_MASTER_KEY": "MASTER_KEY"}
    more = {"AzureWebJobs.off.Disabled": "true", "AzureFunctionsWebHost__hostid": "probe"}
    env = environment_of(storage, **keys, **more)

    async with running(
        ANY_RUNTIME, storage, app=_PROBE, arguments=["--enable-auth"], environment=env
    ) as host:
        port = int(host.url.rpartition(":")[2])
        gate = asyncio.Semaphore(_ABREAST)

        async def differing(name: str) -> dict[str, Any]:
            entry = entries[name]
            expected = recorded(entry["answer"])
            is_ended = expected.status and expected.ended != "TimeoutError"
            patience = {} if is_ended else {"patience": _SILENCE}
            async with gate:
                answer = await answer_to(port, entry["send"], head=entry.get("head", False), **patience)
            ours = answer.compared((f"127.0.0.1:{port}", "127.0.0.1:PORT"))
            return {} if ours == expected.compared() else {name: ours}

        changed = dict(ChainMap(*await asyncio.gather(*map(differing, entries))))
        context = await answer_to(port, [_TRACED.format(port)], head=False)

    assert len(entries) == 302
    assert changed.keys() - DIFFERENCES.keys() == set(), "the local host has to answer as Azure's does"
    assert DIFFERENCES.keys() - changed.keys() == set(), "no longer differences: take them off the list"
    assert {
        name: answer
        for name, answer in changed.items()
        if answer["status"] != DIFFERENCES[name].status
        or DIFFERENCES[name].words not in json.dumps(answer["body"]).replace('\\"', '"')
    } == {}, "not as the list says"
    assert (context.body["traceparent"], context.body["tracestate"]) == ("", ""), "as without Insights"
