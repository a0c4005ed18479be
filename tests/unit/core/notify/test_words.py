"""An event in words: each kind of event that receivers get, and what a job wrote in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.core.notify.words import FACTS, TITLE, VALUE, Fact, message_of

PAGE = "https://app.example.com/api/ui/"


def event(type_: str, subject: str, **data: Any) -> str:
    return json.dumps({"type": type_, "subject": subject, "data": data})


def job(word: str, **data: Any) -> str:
    return event(f"io.slipway.job.{word}.v1", "jobs/j_1", **{"name": "mnist-2", "state": word, **data})


@pytest.mark.parametrize(
    ("written", "title", "facts"),
    [
        (job("succeeded", exitCode=0), "mnist-2: succeeded", [("Exit code", "0")]),
        (
            job("failed", exitCode=1, message="it exited with 1", lastError="ValueError: x", attempt=2),
            "mnist-2: failed",
            [
                ("Exit code", "1"),
                ("Message", "it exited with 1"),
                ("Last error", "ValueError: x"),
                ("Attempt", "2"),
            ],
        ),
        (job("queued", attempt=1, waiting={"text": "no room"}), "mnist-2: queued", [("Waits", "no room")]),
        (
            job("idle", idle={"endsAfter": "2026-11-20T12:00:00Z"}),
            "mnist-2: ends soon because it does nothing",
            [("Ends after", "2026-11-20T12:00:00Z")],
        ),
        (
            job("held", held={"message": "m", "until": "2026-11-20T12:00:00Z"}),
            "mnist-2: failed, and keeps its nodes",
            [("Kept until", "2026-11-20T12:00:00Z")],
        ),
    ],
)
def test_a_job_is_named_with_what_explains_its_state(
    written: str, title: str, facts: list[tuple[str, str]]
) -> None:
    message = message_of(written, PAGE)

    assert (message.title, message.page) == (title, f"{PAGE}#/jobs/j_1")
    assert message.facts == (Fact("Job", "j_1"), *(Fact(*one) for one in facts))
    assert message_of(written, PAGE) == message
    assert message_of(written, "").page == ""


def test_the_end_of_a_sweep_counts_its_jobs() -> None:
    written = event(
        "io.slipway.sweep.ended.v1", "sweeps/s_1", name="lr", counts={"succeeded": 7, "failed": 1, "lost": 0}
    )

    message = message_of(written, PAGE)

    assert (message.title, message.page) == ("lr: the sweep has ended", f"{PAGE}#/jobs?sweep=s_1")
    assert message.facts[1] == Fact("Jobs", "7 succeeded, 1 failed")


def test_a_test_says_what_it_is() -> None:
    message = message_of(event("io.slipway.test.v1", "receivers/x", message="a test of this address"), PAGE)

    assert (message.title, message.facts) == ("Slipway", (Fact("Message", "a test of this address"),))


def test_what_a_job_wrote_is_one_line_of_bounded_length() -> None:
    hostile = "a\r\nBcc: x\x00\u202eevil\u2028" + "y" * 5000

    message = message_of(job("failed", **dict.fromkeys(("name", "message", "lastError"), hostile)), PAGE)

    assert len(message.title) <= TITLE
    assert len(message.facts) <= FACTS
    texts = [message.title, *(one.value for one in message.facts)]
    assert all(text.isprintable() and len(text) <= VALUE for text in texts)
