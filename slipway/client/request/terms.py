"""What a person asks of a job beside its code: for how long, how often, where it is listed, who is told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

from shared.jobspec import iso_duration, meant_duration
from slipway.failure import USAGE, Failure

Priority = Literal["low", "normal", "high"]


@dataclass(frozen=True)
class Terms:
    """The wishes of a person; each that is empty leaves what a job.json says."""

    #: an ISO 8601 duration
    time: str = ""
    priority: Priority | None = None
    #: more attempts after the job's own failure
    retry: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    experiment: str = ""
    #: addresses of webhooks
    notify: Sequence[str] = ()
    #: for how long its nodes are kept after a failure of its own, as an ISO 8601 duration
    hold: str = ""

    def properties(self, written: Mapping[str, Any]) -> dict[str, Any]:
        """The properties of a job that these wishes set, with what it has of them."""
        members: dict[str, Any] = {}
        if self.time:
            members["constraints"] = {**member_object(written, "constraints"), "maxWallClockTime": self.time}
        if self.priority is not None:
            members["schedulingPriority"] = self.priority
        return members

    def envelope(self, written: Mapping[str, Any]) -> dict[str, Any]:
        """The members of an envelope that they set, with what it has of them."""
        members: dict[str, Any] = {"experiment": self.experiment} if self.experiment else {}
        if self.retry is not None:
            members["retry"] = {**member_object(written, "retry"), "user": self.retry}
        if self.labels:
            members["labels"] = {**member_object(written, "labels"), **self.labels}
        if self.notify:
            others = written.get("notify")
            others = others if isinstance(others, list) else []
            members["notify"] = [*others, *({"url": url} for url in self.notify)]
        if self.hold:
            members["hold"] = self.hold
        return members


def member_object(written: Mapping[str, Any], member: str) -> Mapping[str, Any]:
    """The object that a document has there; an empty one for anything else, which the app refuses."""
    value = written.get(member)
    return value if isinstance(value, dict) else {}


def time_limit(text: str | timedelta, option: str = "--time") -> str:
    """An ISO 8601 duration for what a person writes: `90m`, `1h 30m`, `2 days`, `4:30:00`, `PT4H`.

    Raises Failure for anything else.
    """
    if isinstance(text, timedelta):
        return iso_duration(text)
    written = meant_duration(text)
    if written or not text:
        return written or ""
    raise Failure(
        f"{option} {text}: is not a length of time; write one such as 90m, 4h, 2d or PT4H30M", USAGE
    )


def labels(pairs: Sequence[str]) -> dict[str, str]:
    """The labels of --label NAME=VALUE. Raises Failure."""
    named = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise Failure(f"--label {pair}: write NAME=VALUE", USAGE)
        named[name] = value
    return named
