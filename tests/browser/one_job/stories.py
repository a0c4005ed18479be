"""Jobs at the wire that people ask about: failed, waiting, running, held, cancelled."""

from __future__ import annotations

import json
from typing import Any

from tests.browser.reader import listed

TRACE = (
    "Traceback (most recent call last):",
    '  File "train.py", line 41, in main',
    "    for batch in loader(args.data, epoch):",
    "FileNotFoundError: [Errno 2] No such file or directory: '/data/train-00017.tfrecord'",
)
REMEDY = "/data is a path of your machine: the job sees its folder and what it mounts."
WARNED = "UserWarning: the loader is slow\n"
ERRORS = f"{WARNED}{chr(10).join(TRACE)}\n"
OUTPUT = "".join(
    f"epoch {epoch}\n"
    if epoch % 10 == 0
    else json.dumps({"slipway": {"epoch": epoch, "loss": 1 / epoch}}) + "\n"
    for epoch in range(1, 41)
)
LOG = {"stdout-1.txt": OUTPUT, "stderr-1.txt": ERRORS}
_DAY, _START = "2026-11-20T10:", 1_795_169_040


def at(minute: int, second: int = 0) -> str:
    return f"{_DAY}{minute:02}:{second:02}Z"


def _entry(sequence: int, state: str, minute: int, attempt: int = 1, **members: Any) -> dict[str, Any]:
    return {"sequence": sequence, "state": state, "at": at(minute), "attempt": attempt, **members}


def _less(job: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in job.items() if name not in names}


_OF_ALL = {"experiment": "imagenet", "owner": "ann", "team": "vision", "nodes": 2, "createdAt": at(0)}
FAILED: dict[str, Any] = {
    **listed(1, state="failed", **_OF_ALL),
    **{"attempt": 2, "startedAt": at(4), "endedAt": at(30), "exitCode": 1, "remedy": REMEDY},
    "message": "Job failed with non-zero exit code 1",
    "lastError": TRACE[-1],
    "errorLines": {"file": "stderr-1.txt", "offset": len(WARNED), "lines": list(TRACE)},
    "attempts": [
        {"attempt": 1, "name": "a", "state": "failed", "acceptedAt": at(0), "submittingAt": at(2)}
        | {"queuedAt": at(2), "runningAt": at(4), "endedAt": at(12), "message": "exit code 1"},
        {"attempt": 2, "name": "b", "state": "failed", "acceptedAt": at(12), "submittingAt": at(14)}
        | {"queuedAt": at(14), "runningAt": at(15), "endedAt": at(30), "message": "exit code 1"},
    ],
    "history": [
        _entry(1, "accepted", 0, note="waits for the quota of vision"),
        *(_entry(2, "submitting", 2), _entry(3, "queued", 2), _entry(4, "running", 4)),
        _entry(5, "accepted", 12, 2, note="attempt 1 failed: exit code 1", reason="user"),
        *(_entry(6, "submitting", 14, 2), _entry(7, "queued", 14, 2), _entry(8, "running", 15, 2)),
        _entry(9, "failed", 30, 2, reason="user"),
    ],
}
_UNHURT = _less(FAILED, "exitCode", "remedy", "message", "lastError", "errorLines")
RUNNING: dict[str, Any] = {
    **_less(_UNHURT, "endedAt"),
    **{"state": "running", "attempt": 1, "attempts": [{**_UNHURT["attempts"][0]}]},
    "history": _UNHURT["history"][:4],
}
RUNNING["attempts"] = [_less(RUNNING["attempts"][0], "endedAt", "message") | {"state": "running"}]
WAITING: dict[str, Any] = {
    **_less(RUNNING, "startedAt"),
    "state": "accepted",
    "message": "waits for its turn",
    "attempts": [{"attempt": 1, "name": "a", "state": "accepted", "acceptedAt": at(0)}],
    "history": _UNHURT["history"][:1],
    "waiting": {
        "word": "TeamQuota",
        "text": "waits for its turn in the team vision",
        "since": at(1),
        "position": 3,
    },
    "expectedStart": {
        "earliest": at(40),
        "latest": at(55),
        "why": "it starts after 3 jobs of its team have ended",
    },
}
NEVER: dict[str, Any] = {
    **_less(WAITING, "expectedStart"),
    "waiting": {"word": "TooManyNodes", "since": at(1), "never": True}
    | {"text": "can never start as things stand: it asks for 8 nodes, and gpu has at most 4"},
}
HELD: dict[str, Any] = {
    **RUNNING,
    "held": {"exitCode": 1, "message": "its command failed with exit code 1", "until": at(59)},
}
CANCELLED: dict[str, Any] = {
    **_UNHURT,
    **{"state": "cancelled", "cancelledBy": "bob@example.com", "attempt": 1},
    "history": [*_UNHURT["history"][:4], _entry(5, "cancelled", 30, by="bob@example.com")],
}
STORIES = {
    **{"failed": FAILED, "running": RUNNING, "waiting": WAITING, "never": NEVER},
    **{"held": HELD, "cancelled": CANCELLED},
}


def numbers() -> list[dict[str, Any]]:
    """What the job measures, for training and validation, and how busy its nodes are."""
    steps = [[epoch, 1 / epoch] for epoch in range(1, 41)]
    own = {"file": "stdouterr/stdout-1.txt", "axis": "epoch", "count": 40}
    series: list[dict[str, Any]] = [
        {**own, "name": "loss", "points": steps},
        {**own, "name": "val_loss", "points": [[x, y + 0.1] for x, y in steps]},
    ]
    for rank in (0, 1):
        use = {"file": "stdouterr/usage.jsonl", "axis": "time", "count": 20, "rank": rank}
        times = [_START + 60 * minute for minute in range(15)]
        series.append({**use, "name": "gpu0_percent", "points": [[time, 90 + rank] for time in times]})
    return series
