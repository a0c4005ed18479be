"""`slipway overview` for people: a sentence, and a table for each list with an entry."""

from __future__ import annotations

from typing import Any

from slipway.commands.overview import lines

_MARK = {"id": "j_1", "name": "nightly-3", "at": "2026-01-01T10:00:00Z"}
_EMPTY: dict[str, Any] = {
    **{"scope": "all", "since": "2026-01-01T00:00:00Z", "counts": {}, "waiting": [], "failures": []},
    **{"idle": [], "clusters": [], "month": "2026-01", "currency": "USD", "use": []},
}


def test_nothing_is_one_line() -> None:
    assert lines(_EMPTY, utc=True) == ["0 running, 0 waiting; none ended since 2026-01-01 00:00:00Z"]


def test_each_list_is_a_table() -> None:
    waiting = {
        **{"word": "TeamQuota", "subject": "vision", "text": "waits for its turn", "never": False},
        **{"jobs": 53, "oldest": _MARK, "next": {**_MARK, "name": "nightly-4"}},
    }
    failure = {"signature": "ValueError: #", "state": "failed", "jobs": 18, "first": _MARK, "last": _MARK}
    use = {
        **{"team": "vision", "jobs": 3, "nodes": 3, "gpus": 3, "gpuHours": 41.0, "cost": 4.92},
        **{"reservedGpuHours": 126.0, "reservedCost": 1.0, "limitGpuHours": 500.0},
    }
    answer = {
        **_EMPTY,
        "counts": {"accepted": 53, "queued": 1, "running": 3, "failed": 20, "succeeded": 244},
        "waiting": [waiting, {**waiting, "text": "", "jobs": 1}],
        "failures": [failure],
        "clusters": [
            {"name": "dev", "nodes": {"idle": 1, "running": 2, "leaving": 0}, "at": None},
            {"name": "far", "nodes": None, "at": None},
        ],
        "use": [use, {**use, "team": None, "gpuHours": 0.0, "reservedGpuHours": 0.0}],
    }

    assert lines(answer, utc=True) == [
        "3 running, 54 waiting; 20 failed, 244 succeeded since 2026-01-01 00:00:00Z",
        "",
        "waiting  why                          the oldest                             the next",
        "53       waits for its turn           nightly-3, since 2026-01-01 10:00:00Z  nightly-4",
        "1        the reason is not known yet  nightly-3, since 2026-01-01 10:00:00Z  nightly-4",
        "",
        "failed  error          the last                         its id",
        "18      ValueError: #  nightly-3, 2026-01-01 10:00:00Z  j_1",
        "",
        "cluster  nodes",
        "dev      1 idle, 2 running",
        "far      not known",
        "",
        "team       at work  GPU-hours in 2026-01  reserved  cost in USD",
        "vision     3        41.00 of 500          126.00    4.92",
        "(no team)  3        0.00 of 500           0.00      4.92",
    ]
