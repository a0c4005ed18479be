"""What is dead, as a person sees it."""

import pytest
from aiohttp import web

from slipway.client.service import service
from slipway.commands.dead import redrive_each, rows
from tests.doubles.server import answering, as_slipway


def test_messages_and_events_stand_in_one_table_with_their_reasons() -> None:
    since = "2026-01-01T12:00:00+00:00"
    lines = rows(
        [
            {"id": "d_a", "kind": "message", "queue": "jobs", "since": since, "reason": "tried 40 times"},
            {
                "id": "evt_b",
                "kind": "event",
                "job": "j_1",
                "since": since,
                "reason": "https://h.example.com: 410",
            },
        ]
    )
    assert [line.split("  ") for line in lines[1:]] == [
        ["d_a", "", "jobs", "2026-01-01 12:00:00", "tried 40 times"],
        ["evt_b", "j_1", " 2026-01-01 12:00:00", "https://h.example.com: 410"],
    ]


def test_nothing_dead_is_said_in_words() -> None:
    assert rows([]) == ["there are no dead letters"]


async def test_one_that_cannot_go_keeps_none_of_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/api/dead/evt_a/redrive":
            document = {"detail": "the address is disabled", "remedy": "first POST /api/receivers/test"}
            return web.json_response(document, status=409, content_type="application/problem+json")
        return web.json_response({"kind": "message"})

    async with answering(as_slipway(answer)) as url, service(url) as api:
        assert await redrive_each(api, ["evt_a", "d_b"]) == 1

    captured = capsys.readouterr()
    assert captured.out == "d_b  goes back to its queue\n"
    assert captured.err == "slipway: evt_a: the address is disabled; first `slipway events test URL`\n"
