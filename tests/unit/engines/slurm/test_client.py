"""The connection to slurmrestd, and how a dialect is agreed on with one that answers twice."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from shared.core.errors import Busy, Misconfigured, NotFound, Saturated, Transient
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.wire.answer import Answer
from shared.engines.slurm.wire.client import SlurmClient
from shared.engines.slurm.wire.key import GivenToken, Key, SigningKey
from tests.doubles.server import answering

ERROR = b'{"errors": [{"error_number": 2017, "error": "no such job"}]}'
HEAD = b"HTTP/1.1 404 NOT FOUND\r\nConnection: Close\r\nContent-Length: %d\r\n\r\n"
#: As slurmrestd 26.05 sends errors: two responses to one request.
TWICE = HEAD % len(ERROR) + ERROR + HEAD % 4 + b"none"
FINE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


_KEY = SigningKey(b"k" * 32)


@asynccontextmanager
async def served(name: str, otherwise: bytes = TWICE, key: Key = _KEY) -> AsyncIterator[SlurmClient]:
    """A client of a server that knows one dialect."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        writer.write(FINE if name.encode() in request else otherwise)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    client = SlurmClient(SlurmCluster("gpu", url=url, user="u", shared="/shared"), key)
    try:
        yield client
    finally:
        await client.close()
        server.close()


async def test_a_dialect_whose_refusal_is_sent_twice_is_passed_over() -> None:
    async with served("v0.0.44") as client:
        assert (await client.agree()).version == "v0.0.44"


async def test_an_error_that_is_sent_twice_is_reported() -> None:
    async with served("ping") as client:
        answer = await client.call("DELETE", "/job/7?signal=9")

    assert (answer.status, answer.errors) == (404, [(2017, "no such job")])
    assert isinstance(answer.failure(), NotFound)


#: A name that any user can give a job, which slurmrestd passes on as it is.
NAMED = b'{"jobs": [{"name": "caf\xe9"}], "errors": [{"error_number": 2017}]}'
ONCE = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(NAMED) + NAMED


@pytest.mark.parametrize("answer", [ONCE, HEAD % len(NAMED) + NAMED + HEAD % 4 + b"none"], ids=["one", "two"])
async def test_a_name_that_is_no_text_hides_no_other(answer: bytes) -> None:
    async with served("ping", answer) as client:
        assert (await client.call("GET", "/jobs/")).body["jobs"] == [{"name": "caf\ufffd"}]


async def test_what_is_no_http_at_all_is_no_answer() -> None:
    async with served("nothing", b"what\r\n\r\n") as client:
        with pytest.raises(Transient, match="does not answer"):
            await client.agree()


def token(**claims: Any) -> str:
    """A token that an operator made; nothing here checks its signature."""
    parts = (base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=").decode() for one in ({}, claims))
    return ".".join((*parts, "c2ln"))


_REFUSED = b"HTTP/1.1 401 UNAUTHORIZED\r\nContent-Length: 0\r\n\r\n"
_UNSPECIFIED = b'{"errors": [{"error_number": -1, "error": "Unspecified error"}]}'
_NOT_AUTHENTIC = b'{"errors": [{"error_number": 1007, "error": "Protocol authentication error"}]}'
_FAILED = b"HTTP/1.1 500 ERROR\r\nContent-Length: %d\r\n\r\n"
#: What slurmrestd answers to a token that it refuses: 23.11 and later, and 22.05; and that slurmctld refuses.
_REFUSALS = [_REFUSED, *(_FAILED % len(one) + one for one in (_UNSPECIFIED, _NOT_AUTHENTIC))]


@pytest.mark.parametrize("refusal", _REFUSALS, ids=["401", "22.05", "slurmctld"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            token(sun="u", exp=1_700_000_000),
            "the token for gpu expired at 2023-11-14 22:13 UTC",
        ),
        (token(sun="u", exp=99_999_999_999), "refuses our token"),
        (token(sun="u"), "refuses our token"),
        (token(exp="soon"), "refuses our token"),
        ("e30.####.e30", "refuses our token"),
        ("", "refuses our token"),
    ],
)
async def test_a_token_that_is_refused_and_has_expired_is_said_to_have(
    refusal: bytes, text: str, words: str
) -> None:
    key = GivenToken(text) if text else _KEY
    async with served("nothing", refusal, key) as client:
        with pytest.raises(Misconfigured, match=re.escape(words)):
            await client.call("GET", "/jobs/")


@pytest.mark.parametrize("later", ["v0.0.42", "v0.0.99"])
async def test_an_upgrade_of_slurm_is_noticed_by_a_process_that_goes_on(later: str) -> None:
    """A path of a version that slurmrestd does not serve any more is not found."""
    versions = ["v0.0.40"]

    async def answer(request: web.Request) -> web.Response:
        return web.json_response({}, status=200 if f"/{versions[-1]}/" in request.path else 404)

    async with answering(answer) as url:
        client = SlurmClient(SlurmCluster("gpu", url=url, user="u", shared="/shared"), _KEY)
        assert (await client.call("GET", "/jobs/")).status == 200
        versions.append(later)
        if later == "v0.0.99":
            with pytest.raises(Misconfigured, match=r"upgrade Slurm .* and Slipway where it is newer"):
                await client.call("GET", "/jobs/")
        else:
            with pytest.raises(Busy, match=r"gpu speaks v0\.0\.42 now, and v0\.0\.40 no more"):
                await client.call("GET", "/jobs/")
            assert (await client.call("GET", "/jobs/")).status == 200
        await client.close()


@pytest.mark.parametrize("code", [11, 2007, 2016])
def test_a_submission_beyond_the_most_jobs_of_the_controller_is_saturation(code: int) -> None:
    answer = Answer(500, {"errors": [{"error_number": code, "error": "Resource temporarily unavailable"}]})

    assert isinstance(answer.full(), Saturated)
    assert "MaxJobCount" in str(answer.full())


def test_other_refusals_of_a_submission_are_no_saturation() -> None:
    assert Answer(500, {"errors": [{"error_number": 2000, "error": "Invalid partition"}]}).full() is None


@pytest.mark.parametrize("members", ["x", 5, {"error": "x"}, [None], ["x", []], [{"error_number": ["x"]}]])
def test_errors_in_a_form_that_cannot_be_read_are_errors_of_an_unknown_kind(members: Any) -> None:
    answer = Answer(200, {"errors": members, "warnings": members})

    assert set(answer.codes) == {0}
    assert type(answer.failure()) is Transient
    assert answer.warnings
