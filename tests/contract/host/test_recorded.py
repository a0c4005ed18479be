"""Raw requests get the answers that Azure's host gave, but for the differences below, each with its reason.

answers.json was recorded from azure-functions-host 4.1037, as Flex Consumption, over the app beside it.
A difference that is gone has to be taken off the list.
"""

import asyncio
import json
from itertools import chain
from pathlib import Path

import pytest

from tests.contract.host.raw import answer_to, recorded
from tests.contract.host.world import ANY_RUNTIME, Storage, environment_of, running

pytestmark = pytest.mark.asyncio(loop_scope="session")

_PROBE = Path(__file__).with_name("probe")
_PARSER = "aiohttp refuses it, and says why; Kestrel is looser, or says nothing"
_ADMIN = "the local host has less of the host's own API: status, ping, functions, runs by hand, events"
DIFFERENCES = {
    "Origin foreign": "pages of other sites are refused on this machine: local/border.py",
    "Host foreign": "names of other machines are refused on this machine: local/border.py",
    "http 0.9": "it has no Host: local/border.py",
    "absolute form other host": "aiohttp does not compare it with Host, which the border checks",
    "path root": "without Azure's start page, as with AzureWebJobsDisableHomepage",
    "answer str empty": "the other runtime trims a text of one space",
    "reply: location absolute": "the same 500, whose Content-Type only Azure's host keeps",
    "key disabled master": "Azure's host runs a disabled function for the master key",
    "run http": "says by which address an HTTP function is called; in Azure the run fails later",
    "run queue object": "the same 400, and says why",
    "run not json": "the same 400, and says why",
    "run list": "the same 400, and says why",
    "event validation aeg": "the same answer, as JSON",
    "event unknown function": "404 and says which; Azure's host answers 500",
    "event not json": "400 and says so; Azure's host answers 500",
    **dict.fromkeys(
        (
            "method FOO echo",
            "method get echo",
            "method FOO onlyget",
            "method CONNECT",
            "Host missing",
            "Host twice",
            "path non-ASCII raw",
            "query raw non-ASCII",
            "header control",
            "header bad name",
            "body chunked and length",
            "body two lengths",
            "body length negative",
            "bare LF",
            "http 2 preface",
        ),
        _PARSER,
    ),
    **dict.fromkeys(
        (
            "own GET /admin/functions/echo master",
            "own GET /admin/functions/ECHO master",
            "own GET /admin/host/keys",
            "own GET /admin/host/keys key",
            "own GET /admin/host/keys master",
            "own GET /admin/instance/info key",
            "own GET /admin/instance/info master",
        ),
        _ADMIN,
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

        async def differing(name: str) -> list[str]:
            entry = entries[name]
            expected = recorded(entry["answer"])
            is_ended = expected.status and expected.ended != "TimeoutError"
            patience = {} if is_ended else {"patience": _SILENCE}
            async with gate:
                answer = await answer_to(port, entry["send"], head=entry.get("head", False), **patience)
            ours = answer.compared((f"127.0.0.1:{port}", "127.0.0.1:PORT"))
            return [] if ours == expected.compared() else [name]

        changed = set(chain(*await asyncio.gather(*map(differing, entries))))
        context = await answer_to(port, [_TRACED.format(port)], head=False)

    assert len(entries) == 302
    assert changed - DIFFERENCES.keys() == set(), "the local host has to answer as Azure's does"
    assert DIFFERENCES.keys() - changed == set(), "no longer differences: take them off the list"
    assert (context.body["traceparent"], context.body["tracestate"]) == ("", ""), "as without Insights"
