"""A service that means no good: all its answers have texts that would take a terminal over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

#: Clears the screen, renames the window, hides what follows, rings, overwrites the line, turns it around,
#: begins a sequence in one byte of Latin-1, and breaks the line.
HOSTILE = "canary\x1b[2J\x1b]0;owned\x07\x1b[8m\x07over\rwritten\u202edesrever\x9b2J\x7f\x08\u2028end"
ID = "j_" + "a" * 24
SWEEP = "s_" + "a" * 24
_AT = "2026-01-01T12:00:00+00:00"
#: Members that have to be what they are for an answer to be shown at all.
_FIXED = {
    ID,
    SWEEP,
    _AT,
    "stdouterr",
    "stderr.txt",
    "stdout-0.txt",
    f"stdout-{HOSTILE}.txt",
    "failed",
    "step",
    "evt_1",
    "io.slipway.job.failed.v1",
    "d_1",
    "loss",
}
_PROBLEM = {
    "severity": "error", "code": "SW010", "pointer": "/x", "message": "wrong", "remedy": "mend it",
    "line": 2, "column": 3, "source": '  "x": 1', "caret": 2, "width": 3, "file": "message",
}  # fmt: skip
_JOB: dict[str, Any] = {
    "id": ID, "name": "n", "door": "http", "state": "failed", "message": "m", "lastError": "e", "exitCode": 3,
    "attempt": 1, "createdAt": _AT, "receipt": "runs/x/receipt.json", "cluster": "c", "experiment": "x",
    "labels": {"team": "t"}, "engine": {"engine": "memory", "cluster": "dev", "id": "h"}, "reason": "user",
    "history": [{"sequence": 1, "state": "failed", "at": _AT, "attempt": 1, "note": "why", "reason": "user"}],
    "problems": [_PROBLEM], "waiting": {"text": "it waits", "word": "w", "since": _AT},
    "sweep": {"index": 1, "values": {"lr": "x"}},
    "usage": {"nodeHours": 1.5, "gpuHours": 6.0, "cost": 3.0, "currency": "USD"},
}  # fmt: skip
_TRY = {"at": _AT, "status": None, "ms": 3, "said": "5xx"}
_TARGET = {"url": "u", "state": "dead", "last": "l", "tries": [_TRY]}
_CLUSTER = {
    "name": "dev", "engine": "batchai", "state": "steady", "nodes": 3, "counts": {"idle": 1}, "minimum": 0,
    "maximum": 4, "size": "s", "errors": ["no quota"], "priority": "p",
    "members": [{"name": "node", "state": "idle"}],
}  # fmt: skip
_SWEEP = {
    "sweepId": SWEEP, "name": "n", "state": "running", "counts": {"failed": 1}, "total": 1, "parallel": 1,
    "waiting": 0, "atWork": 1,
}  # fmt: skip
_USE = {"jobs": 1, "nodes": 1, "gpus": 0, "gpuHours": 1.5, "cost": 2.0, "waiting": 0}
_MARK = {"id": ID, "name": "n", "at": _AT}
_SERIES = {"name": "loss", "file": "f", "axis": "step", "rank": 0, "count": 2, "points": [[1, 2], [2, 1]]}
#: What is asked for, by the end of its address.
_ANSWERS: Mapping[str, Any] = {
    "/jobs": {"jobs": [_JOB, _JOB], "next": "more"},
    "/outputs": {"outputs": [{"id": "stdouterr"}]},
    "/files": {
        "files": [
            {"name": name, "bytes": 9, "modified": _AT}
            for name in ("stderr.txt", "stdout-0.txt", f"stdout-{HOSTILE}.txt", "x")
        ]
    },
    "/code": {
        "sha256": "x",
        "bytes": 9,
        "files": 1,
        "at": "x",
        "origin": "upload",
        "entries": [{"name": "x", "bytes": 9}, {"name": "y", "bytes": 9, "link": "x"}],
        "more": False,
        "url": "https://x",
        "expires": _AT,
    },
    "/metrics": {
        "series": [_SERIES, {**_SERIES, "name": "other"}],
        "restarted": True,
        "next": "n",
        "more": False,
        "note": "left out",
    },
    "/events": {"events": [{"id": "evt_1", "type": "io.slipway.job.failed.v1", "targets": [_TARGET]}]},
    "/redeliver": {"events": ["evt_2"]},
    "/dead": {"dead": [{"id": "d_1", "queue": "jobs", "since": _AT, "reason": "r"}]},
    "/redrive": {"kind": "message"},
    "/teams": {
        "version": "v",
        "document": {"teams": {"x": {"clusters": ["c"]}}},
        "use": {},
        "changes": ["c"],
    },
    "/overview": {
        "scope": "all",
        "since": _AT,
        "counts": {"failed": 1},
        "waiting": [
            {
                "word": "w",
                "subject": "s",
                "text": "t",
                "never": False,
                "jobs": 1,
                "oldest": _MARK,
                "next": _MARK,
            }
        ],
        "failures": [{"signature": "e", "state": "failed", "jobs": 1, "first": _MARK, "last": _MARK}],
        "idle": [],
        "clusters": [{"name": "c", "nodes": {"idle": 1}, "at": _AT}],
        "month": "2026-01",
        "currency": "USD",
        "countedSince": _AT,
        "use": [{"team": "x", "jobs": 1, "gpuHours": 1.0, "cost": 1.0, "reservedGpuHours": 1.0}],
    },
    "/usage": {
        "month": "2026-11",
        "currency": "USD",
        "teams": [{"name": "x", "quota": {"jobs": 2}, "use": _USE, "months": {}}],
    },
    "/trail": {
        "acts": [
            {"at": _AT, "by": "ann", "operation": "cancel", "subject": ID, "status": 202, "roles": ["r"]}
        ],
        "unreadable": 1,
        "next": None,
    },
    "/disabled": {"receivers": [{"url": "u", "since": _AT, "why": "410"}]},
    "/test": {"outcome": "delivered", "said": "s", "ms": 3},
    "/clusters": {"clusters": [_CLUSTER, {"name": "lost", "engine": "e", "error": "silent", "since": _AT}]},
    "/audit": {
        "differences": [{"kind": "k", "what": "w", "message": "m"}],
        "unknown": ["u"],
        "counted": {"x": 1},
    },
    "/pause": {"paused": True, "by": "ann", "reason": "r"},
    "/resume": {"paused": True, "by": "ann", "reason": "r"},
    SWEEP: _SWEEP,
    "/openapi.json": {"info": {"version": "1"}},
    "": _JOB,
}


def poisoned(answer: Any) -> Any:
    """The answer with a canary in every text that is free, in names, too."""
    if isinstance(answer, dict):
        return {name: poisoned(value) for name, value in answer.items()} | (
            {HOSTILE: HOSTILE} if "team" in answer or "lr" in answer else {}
        )
    if isinstance(answer, list):
        return [poisoned(one) for one in answer]
    return answer + HOSTILE if isinstance(answer, str) and answer not in _FIXED else answer


async def answers(request: web.Request) -> web.StreamResponse:
    """What was asked for, poisoned."""
    if request.path.endswith("/receipt"):
        return web.Response(body=json.dumps({"id": ID, "name": HOSTILE}, ensure_ascii=False).encode())
    if "/files/" in request.path or request.path.endswith("/log"):
        headers = {"Slipway-More": "false", "Slipway-Next-Offset": "9"}
        rest = b"" if request.query.get("offset", "0") != "0" else (HOSTILE + "\n").encode()
        return web.Response(body=rest, headers=headers)
    if request.method == "POST" and request.path.endswith("/jobs"):
        return web.json_response(poisoned(_JOB))
    answer = next(one for end, one in _ANSWERS.items() if request.path.partition("/cancel")[0].endswith(end))
    if "after" in request.query:
        answer = {**answer, "next": None}
    return web.json_response(poisoned(answer))


async def refuses(_: web.Request) -> web.StreamResponse:
    """A problem document, poisoned."""
    problem = {"detail": HOSTILE, "remedy": HOSTILE, "errors": [poisoned(_PROBLEM)], "jobId": HOSTILE}
    return web.json_response(problem, status=422)


async def redirects(_: web.Request) -> web.StreamResponse:
    """An answer of a proxy, to a poisoned address, for a poisoned reason."""
    return web.Response(
        status=302, reason="no\x1b[2J\x07", headers={"Location": "http://x/\x1b[2J\x07\x9b2J"}
    )


async def fails(_: web.Request) -> web.StreamResponse:
    """An answer of a proxy that is not Slipway's."""
    return web.Response(status=500, reason="no\x1b[2J\x07\x9b2J", text=HOSTILE)
