"""`--after` and `--after-failure`: what becomes of a document whose job has to wait for others."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web

from slipway import AsyncClient
from slipway.client.request.order import Order, in_order, text_in_order
from slipway.client.service import service
from slipway.commands.submit.submit import run
from slipway.failure import Failure
from slipway.library.job import AsyncJob
from tests.doubles.server import answering, as_slipway

A, B = "j_" + "a" * 24, "j_" + "b" * 24
SPEC = {"properties": {"nodeCount": 1}}


@pytest.mark.parametrize(
    ("document", "envelope"),
    [(SPEC, {"spec": SPEC}), ({"spec": SPEC, "name": "x"}, {"spec": SPEC, "name": "x"})],
)
def test_a_text_becomes_an_envelope_whose_lines_are_where_they_were(
    document: dict[str, Any], envelope: dict[str, Any]
) -> None:
    text = b"\xef\xbb\xbf\n" + json.dumps(document, indent=1).encode() + b"\n"

    ordered = text_in_order(text, Order([A], [B]))

    assert json.loads(ordered) == {"after": [A], "afterFailure": [B], **envelope}
    line = json.dumps(document, indent=1).splitlines()[2]
    assert ordered.decode().splitlines().index(line) == 2


def test_without_a_job_to_wait_for_a_text_stays_as_it_is() -> None:
    assert text_in_order(b"no JSON", Order()) == b"no JSON"
    assert in_order(SPEC, Order()) == SPEC


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"[]",
        b'{"specversion": "1.0", "data": {}}',
        b'{"spec": {}, "after": ["x"]}',
        "{}".encode("utf-16"),
    ],
)
def test_what_cannot_take_them_is_refused_and_nothing_is_left_out(text: bytes) -> None:
    with pytest.raises(Failure):
        text_in_order(text, Order([A]))


def test_a_document_keeps_the_jobs_that_it_names() -> None:
    envelope = {"spec": SPEC, "after": [A]}

    assert in_order(envelope, Order([B, A])) == {"spec": SPEC, "after": [A, B]}
    assert in_order(SPEC, Order((), [B])) == {"spec": SPEC, "afterFailure": [B]}


async def test_jobs_are_named_as_for_any_command_and_sent_by_their_ids() -> None:
    bodies: list[Any] = []

    async def answer(request: web.Request) -> web.Response:
        if request.method == "GET":
            assert request.query["name"] == "data"
            return web.json_response({"jobs": [{"id": B}], "next": None})
        bodies.append(json.loads(await request.read()))
        return web.json_response({"id": A, "name": "x", "state": "accepted"})

    async with answering(as_slipway(answer)) as url:
        async with service(url) as api:
            assert await Order([A], ["data"]).ids(api) == Order([A], [B])
        client = AsyncClient(url)
        await client.submit(SPEC, after=[AsyncJob(A, url, "")], after_failure=["data"])

    assert bodies == [{"spec": SPEC, "after": [A], "afterFailure": [B]}]


def test_submit_refuses_a_file_that_is_not_there(tmp_path: Any) -> None:
    with pytest.raises(Failure, match="cannot be read"):
        run(tmp_path / "x.json", "http://localhost:1", "", Order([A]))
