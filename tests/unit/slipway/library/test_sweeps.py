"""Sweeps in the client for Python, over the wire: one implementation, awaited or not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import pytest
from aiohttp import web

from slipway import AsyncClient, AsyncSweep, Client, Failure, Sweep
from tests.doubles.server import answering, as_slipway
from tests.unit.slipway.commands.sweep.test_best import SWEEP, SWEEP_BODY, best_api, id_of

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def test_without_await_it_does_the_same_also_while_a_loop_runs() -> None:
    requests: list[tuple[str, str, str | None]] = []
    ranked: Handler = best_api([[0.5], [0.25], []])

    async def api(request: web.Request) -> web.StreamResponse:
        requests.append((request.method, request.path, request.headers.get("Idempotency-Key")))
        return await ranked(request)

    def work(url: str) -> tuple[Any, ...]:
        sweep: Sweep = Client(url).submit_sweep({"sweep": {"lr": [1]}}, idempotency_key="k")
        same = Client(url).sweep(SWEEP)
        best = same.best("loss")
        most = same.best("loss", most=True)
        return (
            repr(sweep),
            same.details().total,
            [job.id for job in same.jobs(state="succeeded")],
            [(value, job.id) for value, job in best],
            [value for value, _ in most],
            same.wait().counts,
            same.cancel().state,
        )

    async with answering(as_slipway(api)) as url:
        result = await asyncio.to_thread(work, url)

    assert result == (
        f"Sweep('{SWEEP}')",
        3,
        [id_of(2), id_of(1), id_of(0)],
        [(0.25, id_of(1)), (0.5, id_of(0))],
        [0.5, 0.25],
        {"succeeded": 3},
        "ended",
    )
    assert requests[0] == ("POST", "/api/sweeps", "k")
    assert ("POST", f"/api/sweeps/{SWEEP}/cancel", None) in requests


async def test_a_sweep_is_waited_for_until_it_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slipway.library.sweep._EVERY", 0.01)
    states = ["active", "active", "ended"]
    ended: Handler = best_api([])

    async def api(request: web.Request) -> web.StreamResponse:
        if len(states) > 1:
            return web.json_response({**SWEEP_BODY, "state": states.pop(0)})
        return await ended(request)

    async with answering(as_slipway(api)) as url:
        sweep: AsyncSweep = await AsyncClient(url).sweep(SWEEP)
        assert (await sweep.wait()).state == "ended"
    assert states == ["ended"]


@pytest.mark.parametrize("identity", ["tune", "j_" + "a" * 24, SWEEP + "/../x", ""])
async def test_what_is_no_id_of_a_sweep_is_a_failure(identity: str) -> None:
    async def api(_: web.Request) -> web.StreamResponse:
        return web.json_response({"jobs": [], "next": None})

    async with answering(as_slipway(api)) as url:
        with pytest.raises(Failure, match="no sweep of the latest 1,000 jobs has the id or the name"):
            await AsyncClient(url).sweep(identity)
    with pytest.raises(Failure, match="is not the id of a sweep"):
        AsyncSweep(identity, url, "")


async def test_an_answer_that_is_no_sweep_is_a_failure() -> None:
    async def api(_: web.Request) -> web.StreamResponse:
        return web.json_response({"sweepId": SWEEP})

    async with answering(as_slipway(api)) as url:
        sweep = await AsyncClient(url).sweep(SWEEP)
        with pytest.raises(Failure, match="is not a sweep"):
            await sweep.details()
