"""The page for authors of jobs quotes messages and reasons that Slipway and its clusters have."""

from __future__ import annotations

import re

import pytest

from shared.core.job import Reason
from tests.unit.documents.corpus import ROOT

PAGE = (ROOT / "docs" / "how-to" / "troubleshoot-a-job.md").read_text(encoding="utf-8")
SOURCES = [
    file.read_text(encoding="utf-8")
    for room in ("slipway", "shared", "local")
    for file in (ROOT / room).rglob("*.py")
]


@pytest.mark.parametrize(
    "message",
    [
        "the end of ",
        "Job failed with non-zero exit code",
        "nothing runs yet",
        "in this folder, and no template above it",
        "can never start as things stand",
        "killed by the cluster (signal 9), usually because it used more memory than it had",
        "no container runtime answers",
        "FailedStartingContainer",
        "nothing was written",
        "so no node has run it and it has no files",
        "no file fits ",
    ],
)
def test_a_quoted_message_is_one_of_ours(message: str) -> None:
    assert message in PAGE
    assert any(message in text for text in SOURCES), "the message has changed: change its page, too"


def test_every_reason_of_an_end_has_a_row() -> None:
    rows = set(re.findall(r"`(?:failed|rejected|cancelled) \((\w+)\)`", PAGE))

    assert rows == {reason.value for reason in Reason if reason is not Reason.TERMINATED}
