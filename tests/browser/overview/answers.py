"""An overview in the API's place: of a deployment with work, and of one that has just begun."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

NEVER = "can never start as things stand: it asks for 9 nodes, gpu has at most 6"
LONG = "speech-conformer-large-960h-specaugment-v12-long-name-of-64-ch"


def at(minutes: float) -> str:
    """A moment so many minutes ago."""
    moment = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=minutes)
    return moment.isoformat().replace("+00:00", "Z")


def mark(name: str, minutes: float) -> dict[str, str]:
    return {"id": f"id-{name}", "name": name, "at": at(minutes)}


def waiting(word: str, subject: str, text: str, jobs: int, name: str, **members: Any) -> dict[str, Any]:
    marks = {"oldest": mark(name, 34), "next": mark(name, 34)}
    return {"word": word, "subject": subject, "text": text, "never": False, "jobs": jobs, **marks, **members}


def failure(signature: str, jobs: int, first: str, last: str) -> dict[str, Any]:
    marks = {"first": mark(first, 400), "last": mark(last, 20)}
    error = signature.replace("#", "17")
    return {"signature": signature, "error": error, "state": "failed", "jobs": jobs, **marks}


def running(name: str, nodes: int, since: float, until: float, **members: Any) -> dict[str, Any]:
    times = {"since": at(since), "until": at(-until)}
    return {"id": f"id-{name}", "name": name, "cluster": "gpu", "nodes": nodes, "gpus": 4, **times, **members}


def ended(name: str, state: str, minutes: float, ran: int, **members: Any) -> dict[str, Any]:
    return {"id": f"id-{name}", "name": name, "state": state, "at": at(minutes), "ran": ran, **members}


def team(name: str | None, used: float, reserved: float, jobs: int, **members: Any) -> dict[str, Any]:
    hours = {"gpuHours": used, "cost": used * 0.12, "reservedGpuHours": reserved, "reservedCost": 1.0}
    return {"team": name, "jobs": jobs, "nodes": jobs, "gpus": 4 * jobs, **hours, **members}


def busy(scope: str = "all") -> dict[str, Any]:
    """Jobs of every kind, a cluster that scales, and three teams."""
    nodes = {"idle": 0, "running": 4, "preparing": 0, "leaving": 0, "unusable": 0}
    counts = {"running": 3, "queued": 2, "accepted": 115, "failed": 20, "succeeded": 244, "cancelled": 3}
    return {
        "scope": scope,
        "since": at(24 * 60),
        "counts": counts,
        **_waiting_and_failed(),
        **_running_and_ended(),
        "ends": {"hours": 1, "succeeded": [3, 2, 0, *([11] * 21)], "failed": [0, 1, 0, *([1] * 19), 0, 0]},
        "clusters": [{"name": "gpu", "nodes": nodes, "maximum": 6, "at": at(3)}],
        "month": "2026-11",
        "currency": "USD",
        "countedSince": at(20_000),
        "use": [
            team("vision", 41, 126, 3, limitGpuHours=500),
            team("speech", 112, 0, 1),
            team(None, 9, 0, 0),
        ],
    }


def _waiting_and_failed() -> dict[str, Any]:
    return {
        "waiting": [
            waiting("TooManyNodes", "gpu", NEVER, 1, "too-big", never=True),
            waiting("TeamQuota", "vision", "2 of 2 nodes in use", 53, "nightly-003", nextBy=at(-25)),
            waiting("TeamQuota", "speech", "1 of 1 node in use", 50, "speech-001"),
            waiting("SweepTurn", "s_1", "3 of its jobs are at work at once", 12, "tune-lr-09"),
            waiting("Dependency", "id-a", "waits for metrics-running to succeed", 1, "waits-for-train"),
        ],
        "failures": [
            failure("AssertionError: shard # is empty", 18, "nightly-000", "nightly-187"),
            failure("FileNotFoundError: /data/train-#.tfrecord", 1, "resnet50-base", "resnet50-base"),
            failure("MemoryError", 1, "oom-kill", "oom-kill"),
        ],
    }


def _running_and_ended() -> dict[str, Any]:
    return {
        "idle": [{**mark("metrics-running", 0), "since": at(22), "endsAfter": at(-9)}],
        "running": [
            running("resnet50-cosine", 1, 12, 16, owner="mia@example.com", team="vision"),
            running("metrics-running", 1, 22, 48, owner="bob"),
            running(LONG, 2, 41, 559, owner="leo", team="speech"),
        ],
        "ended": [
            ended("tune-lr-08", "succeeded", 2, 12),
            ended("bert-pretrain", "cancelled", 5, 190),
            ended("oom-kill", "failed", 9, 1, error="exit code 137: the node had no memory left"),
        ],
    }


def new() -> dict[str, Any]:
    """Nothing has run yet."""
    nothing = {name: list[Any]() for name in ("waiting", "failures", "idle", "running", "ended")}
    ends = {"hours": 1, "succeeded": [0] * 24, "failed": [0] * 24}
    return {
        **busy(),
        **nothing,
        "counts": {},
        "ends": ends,
        "clusters": [{"name": "gpu", "nodes": None, "at": None}],
        "use": [team(None, 0, 0, 0)],
    }
