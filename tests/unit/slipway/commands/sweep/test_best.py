"""`slipway sweep show --best`: which jobs are ranked, in which order, and what is said of the others."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from typing import Any

import pytest
from aiohttp import web

from slipway.commands.sweep.sweep import show_sweep
from slipway.failure import Failure
from tests.doubles.server import answering, as_slipway

SWEEP = "s_" + "a" * 24
SWEEP_BODY: dict[str, Any] = {
    "sweepId": SWEEP, "name": "tune", "experiment": "tune", "state": "ended", "total": 3, "parallel": 2,
    "waiting": 0, "atWork": 0, "counts": {"succeeded": 3}, "createdAt": "2026-01-01T12:00:00Z",
    "parameters": {"lr": {"range": [0, 3]}},
}  # fmt: skip
#: of each job: what it reported as loss, if it did; a text is its refusal
Reports = list[list[float] | str]


def id_of(index: int) -> str:
    return f"j_{index:024d}"


def _job(index: int, **members: Any) -> dict[str, Any]:
    sweep = {"id": SWEEP, "index": index, "values": {"lr": index}}
    job = {"id": id_of(index), "name": f"tune-{index}", "state": "succeeded", "sweep": sweep}
    return {**job, "startedAt": "2026-01-01T12:00:00Z", **members}


def _series(name: str, values: list[float]) -> dict[str, Any]:
    points = [[n, value] for n, value in enumerate(values)]
    return {
        "name": name,
        "file": "stdouterr/stdout.txt",
        "axis": "step",
        "count": len(values),
        "points": points,
    }


def best_api(reports: Reports, jobs: list[dict[str, Any]] | None = None, name: str = "loss") -> Any:
    listed = jobs if jobs is not None else [_job(n) for n in reversed(range(len(reports)))]

    async def answer(request: web.Request) -> web.StreamResponse:
        if "/sweeps" in request.path:
            return web.json_response(SWEEP_BODY)
        if request.path.endswith("/jobs"):
            assert request.query["sweep"] == SWEEP
            return web.json_response({"jobs": listed, "next": None})
        report = reports[int(request.path.split("/")[-2].removeprefix("j_"))]
        if isinstance(report, str):
            problem = {"title": report, "detail": report, "remedy": "none"}
            return web.json_response(problem, status=409, content_type="application/problem+json")
        series = [_series("other", [0.0]), _series(name, report)] if report else []
        return web.json_response({"series": series, "next": "a", "more": False, "restarted": False})

    return answer


async def _best(api: Any, metric: str = "loss", *, most: bool = False) -> list[tuple[int, float]]:
    """The numbers and the values of the jobs, as `--json` lists them."""
    output = io.StringIO()
    async with answering(as_slipway(api)) as url:
        with contextlib.redirect_stdout(output):
            await asyncio.to_thread(show_sweep, SWEEP, url, "", metric, most=most, as_json=True)
    best = json.loads(output.getvalue())["best"]
    return [(one["sweep"]["index"], one["value"]) for one in best]


@pytest.mark.parametrize(
    ("most", "order"),
    [
        (False, [(1, -2.0), (0, 0.5), (2, 0.5), (3, 7.0)]),
        (True, [(3, 7.0), (0, 0.5), (2, 0.5), (1, -2.0)]),
    ],
)
async def test_the_last_values_are_in_order_and_equal_ones_by_number(
    most: bool,
    order: list[tuple[int, float]],
) -> None:
    reports: Reports = [[9, 0.5], [3, -2.0], [0.5], [-9, 7]]

    assert await _best(best_api(reports), most=most) == order


async def test_jobs_without_the_metric_and_those_that_wait_are_left_out() -> None:
    jobs = [_job(0), _job(1), _job(2, startedAt=None, state="accepted"), _job(3, startedAt=None)]
    reports: Reports = [[1.0], [], "it is not to be asked", [2.0]]

    assert await _best(best_api(reports, jobs)) == [(0, 1.0), (3, 2.0)]


async def test_the_name_of_a_metric_is_no_pattern() -> None:
    assert await _best(best_api([[1.0]], name="acc[1]"), "acc[1]") == [(0, 1.0)]
    with pytest.raises(Failure, match="has reported"):
        await _best(best_api([[1.0]]), "lo*")


async def test_a_job_whose_numbers_cannot_be_read_is_said_and_the_others_are_ranked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert await _best(best_api(["its files are gone", [1.0]])) == [(1, 1.0)]

    assert f"left out: {id_of(0)}: " in capsys.readouterr().err


async def test_when_none_can_be_read_the_reason_is_the_failure() -> None:
    with pytest.raises(Failure, match="its files are gone"):
        await _best(best_api(["its files are gone", "its files are gone"]))


async def test_a_sweep_without_a_job_that_reported_it_is_a_failure() -> None:
    with pytest.raises(Failure, match=r"no job of s_a+ has reported 'loss' so far"):
        await _best(best_api([[], []]))
    with pytest.raises(Failure, match=r"no job of s_a+ has reported 'loss' so far"):
        await _best(best_api([], []))


async def test_the_table_has_ten_jobs_with_their_values(capsys: pytest.CaptureFixture[str]) -> None:
    reports: Reports = [[n / 8] for n in range(12)]
    async with answering(as_slipway(best_api(reports))) as url:
        assert await asyncio.to_thread(show_sweep, SWEEP, url, "", "loss") == 0

    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    head = lines.index(["loss", "job", "state", "lr"])
    assert lines[head + 1] == ["0", id_of(0), "succeeded", "0"]
    assert lines[head + 10] == ["1.125", id_of(9), "succeeded", "9"]
    assert len(lines) == head + 11


def test_max_without_a_metric_is_a_failure() -> None:
    with pytest.raises(Failure, match="--max belongs to --best METRIC"):
        show_sweep(SWEEP, "http://127.0.0.1:9", "", most=True)
