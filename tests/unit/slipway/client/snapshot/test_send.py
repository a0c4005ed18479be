"""An archive is sent once, to an address that is asked for again when it does not take it."""

from __future__ import annotations

import base64
import hashlib
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from local.ports import free_ports
from shared.snapshots.pack import THROUGH_APP
from slipway.client.calls.patience import Patience, patience
from slipway.client.service import service
from slipway.client.snapshot.pack import archive_of
from slipway.client.snapshot.send import send
from slipway.client.snapshot.walk import walk
from slipway.failure import Failure
from tests.doubles.server import answering, as_slipway


class Storage:
    """A deployment and its storage, which answers with these statuses before it takes the archive."""

    def __init__(self, *answers: int, place: str = "") -> None:
        """`place` is where storage is said to be, if not here."""
        self.answers, self.blobs, self.place = list(answers), dict[str, bytes](), place
        self.offers, self.headers, self.through_app = 0, dict[str, str](), 0
        self.reason = "Reason"

    async def answer(self, request: web.Request) -> web.Response:
        if request.path == "/api/snapshots":
            self.offers += 1
            body = await request.json()
            if body["sha256"] in self.blobs:
                return web.json_response({"known": True})
            address = f"{self.place or request.url.origin()}/snapshots/{body['sha256']}?sig=secret"
            return web.json_response({"known": False, "upload": address, "expires": "2030-01-01T00:00:00Z"})
        data = await request.read()
        self.headers = dict(request.headers)
        if request.path.startswith("/api/snapshots/"):
            self.through_app += 1
            self.blobs[request.path.rpartition("/")[2]] = data
            return web.json_response({"known": True}, status=201)
        if self.answers and (status := self.answers.pop(0)) != 201:
            if status == 409:
                self.blobs[request.path.rpartition("/")[2]] = data
            return web.Response(status=status, headers={"x-ms-error-code": self.reason})
        self.blobs[request.path.rpartition("/")[2]] = data
        return web.Response(status=201)


@contextmanager
def silent() -> Iterator[str]:
    """An address whose network drops what is sent: nothing takes from the full queue of its port."""
    with ExitStack() as opened:
        server = opened.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            with suppress(BlockingIOError):
                waiting.connect(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


async def sending(
    folder: Path, storage: Storage, seconds_of_a_part: float = 0.0, connect: float = 30.0
) -> tuple[bool, Sequence[int]]:
    steps, now = list[int](), 0.0

    def advance(size: int) -> None:
        nonlocal now
        steps.append(size)
        now += seconds_of_a_part if size > 0 else 0.0

    async def no_wait(_: float) -> None:
        return None

    with patience(Patience(sleep=no_wait, clock=lambda: now, tell=lambda _: None)):
        async with (
            archive_of(walk(folder)) as archive,
            answering(as_slipway(storage.answer), largest=1 << 26) as url,
            service(url) as api,
        ):
            timeout = aiohttp.ClientTimeout(sock_connect=connect)
            return await send(api, archive, advance, timeout), steps


async def test_a_long_upload_is_repeated_once_its_answer_is_lost_and_not_without_end(folder: Path) -> None:
    assert (await sending(folder, Storage(503), 400.0))[0]

    with pytest.raises(Failure, match="storage answered 503"):
        await sending(folder, Storage(503, 503, 503), 400.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text("print(1)\n")
    return tmp_path


async def test_an_archive_is_stored_under_its_digest_and_sent_no_second_time(folder: Path) -> None:
    storage = Storage()

    first, steps = await sending(folder, storage)
    second, _ = await sending(folder, storage)

    ((digest, data),) = storage.blobs.items()
    assert digest == hashlib.sha256(data).hexdigest()
    assert (first, second, storage.offers) == (True, False, 2)
    assert sum(steps) == len(data)
    md5 = base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
    expected = {"If-None-Match": "*", "x-ms-blob-type": "BlockBlob", "Content-MD5": md5}
    assert {name: storage.headers[name] for name in expected} == expected
    assert storage.headers["Content-Length"] == str(len(data))


@pytest.mark.parametrize(
    ("answers", "offers"),
    [((409,), 2), ((412, 409), 3), ((500, 503), 1), ((429,), 1)],
)
async def test_an_address_that_does_not_take_it_is_tried_or_asked_for_again(
    folder: Path, answers: Sequence[int], offers: int
) -> None:
    storage = Storage(*answers)

    is_sent, steps = await sending(folder, storage)

    assert is_sent
    assert storage.offers == offers
    ((_, data),) = storage.blobs.items()
    assert sum(steps) in (0, len(data))


@pytest.mark.parametrize("closed", ["by its rules", "by the network", "by silence"])
async def test_storage_that_is_closed_to_this_machine_gets_a_small_archive_by_the_app(
    folder: Path, closed: str
) -> None:
    with silent() as unheard:
        nowhere = f"http://127.0.0.1:{free_ports(1)[0]}" if closed == "by the network" else unheard
        storage = Storage(403, 403) if closed == "by its rules" else Storage(place=nowhere)

        is_sent, steps = await sending(folder, storage, connect=0.1 if closed == "by silence" else 30.0)

    ((digest, data),) = storage.blobs.items()
    assert digest == hashlib.sha256(data).hexdigest()
    assert (is_sent, storage.through_app, storage.offers, sum(steps)) == (True, 1, 2, len(data))
    assert storage.headers["Content-Length"] == str(len(data))


async def test_a_large_archive_for_storage_that_is_closed_is_refused_with_the_ways_out(folder: Path) -> None:
    (folder / "data.bin").write_bytes(os.urandom(THROUGH_APP))
    storage = Storage(*[403] * 9)

    with pytest.raises(Failure, match=r"network rules .* at most 8 MiB.*slipway data put"):
        await sending(folder, storage)

    assert storage.through_app == 0


async def test_an_address_that_storage_takes_for_another_time_is_no_matter_of_the_network(
    folder: Path,
) -> None:
    (folder / "data.bin").write_bytes(os.urandom(THROUGH_APP))
    storage = Storage(*[403] * 9)
    storage.reason = "AuthenticationFailed"

    with pytest.raises(Failure, match=r"403 AuthenticationFailed.* clock or .* key .* operator") as refused:
        await sending(folder, storage)

    assert "network" not in str(refused.value)


@pytest.mark.parametrize("answers", [(412,) * 9, (400,), (302,)])
async def test_storage_that_refuses_is_named_without_its_address(
    folder: Path, answers: Sequence[int]
) -> None:
    with pytest.raises(
        Failure, match=rf"storage does not take the code: it answered {answers[0]} Reason"
    ) as refused:
        await sending(folder, Storage(*answers))

    assert "secret" not in str(refused.value)
