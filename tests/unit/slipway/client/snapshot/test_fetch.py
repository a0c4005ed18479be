"""The archive of a job comes as it lies in storage, also if its uploader said otherwise."""

from __future__ import annotations

import gzip

import pytest
from aiohttp import web

from slipway.client.snapshot.fetch import fetched
from slipway.failure import Failure
from tests.doubles.archives import digest
from tests.doubles.server import answering

ARCHIVE = gzip.compress(b"the bytes of an archive")


@pytest.mark.parametrize("encoding", ["", "gzip", "br", "nonsense"])
async def test_what_storage_says_of_the_encoding_hides_no_archive(encoding: str) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=ARCHIVE, headers={"Content-Encoding": encoding} if encoding else {})

    async with answering(answer) as url:
        code = {"url": url, "sha256": digest(ARCHIVE), "bytes": len(ARCHIVE)}
        async with fetched(code) as file:
            assert file.read() == ARCHIVE
        with pytest.raises(Failure, match="is not the code that the job recorded"):
            async with fetched(code | {"sha256": digest(b"other")}):
                pass


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        ("AuthorizationFailure", "if its network rules keep this machine out, let them admit its address"),
        ("AuthenticationFailed", "the clock or the key of the deployment may be wrong; tell its operator"),
        ("", "if its network rules"),
    ],
)
async def test_storage_that_is_closed_to_this_machine_is_said_with_a_way_out(reason: str, says: str) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=403, headers={"x-ms-error-code": reason} if reason else {})

    async with answering(answer) as url:
        with pytest.raises(Failure, match=f"storage answered {f'403 {reason}'.strip()} .*{says}"):
            async with fetched({"url": url, "sha256": digest(ARCHIVE), "bytes": len(ARCHIVE)}):
                pass
