"""Which names of the drop container count, what a plan says of itself, and where receipts go."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.core.ports import Blob
from shared.intake.drops.contents import contents_of
from shared.intake.drops.folder import (
    parent,
    unusable,
    waiting_path,
)
from shared.intake.drops.plan import JobFile, Plan
from shared.intake.message import Request
from shared.intake.receipt_path import receipt_path
from shared.jobspec import Envelope, is_ignored


def blob(name: str, mode: str = "") -> Blob:
    return Blob(name, f"0x{name}", datetime(2026, 1, 1, tzinfo=UTC), 1, mode)


@pytest.mark.parametrize(
    ("job", "script", "explains"),
    [("", "", False), ("explain", "", True), ("", "explain", True), ("x", "", False)],
)
def test_a_plan_explains_when_its_job_or_a_script_says_so(job: str, script: str, explains: bool) -> None:
    file = JobFile(blob("job.json", job), b"", Request(Envelope(), None, ""))
    envelope = blob("slipway.json", "explain")
    assert Plan("", file, (blob("a.py"), blob("b.py", script)), envelope).explains is explains


def test_a_document_that_had_to_be_mended_is_good_for_diagnostics_only() -> None:
    document: dict[str, Any] = {"properties": {}}
    good = JobFile(blob("job.json"), b"", Request(Envelope(), document, ""))
    assert good.document == document
    assert replace(good, request=replace(good.request, readable=False)).document is None


# Names


@pytest.mark.parametrize(
    ("name", "left_alone", "reports"),
    [
        ("a/train.py", False, False),
        ("a/..b/c", True, False),
        ("a/.git/x", True, False),
        (".hidden", True, False),
        ("a/__pycache__/x.pyc", True, False),
        ("a/x__pycache__", False, False),
        ("a/../x", True, True),
        ("./x", True, True),
        ("/a/x", True, True),
        ("a\\x", True, True),
        ("a/x\n", True, True),
        ("a/\u202ex", True, True),
        ("a//x", True, True),
        ("実験\u30001/my\u00a0train.py", False, False),
        ("a/1.00\u202fPM.csv", False, False),
        ("\U0001f469\u200d\U0001f52c/\u0645\u06cc\u200c\u062e.py", False, False),
        (".git/a\\x", True, False),
        ("__pycache__/../x", True, False),
    ],
)
def test_hidden_names_are_left_alone_and_those_that_nothing_can_ask_for_are_reported(
    name: str, left_alone: bool, reports: bool
) -> None:
    assert (is_ignored(name), unusable(name)) == (left_alone, reports)


@pytest.mark.parametrize(("name", "folder"), [("a/b/c", "a/b/"), ("a", ""), ("", ""), ("a/", "a/")])
def test_the_folder_of_a_name_ends_with_its_slash(name: str, folder: str) -> None:
    assert parent(name) == folder


@pytest.mark.parametrize(
    ("folder", "path"),
    [
        ("a/b/", "a/b/waiting.json"),
        ("", "waiting.json"),
        ("x" * 900, "x" * 900 + "/waiting.json"),
        ("\U0001f600" * 450, "\U0001f600" * 450 + "/waiting.json"),
        ("x" * 901, "x" * 400 + "-"),
        ("\U0001f600" * 451, "\U0001f600" * 400 + "-"),
    ],
)
def test_a_receipt_goes_below_the_name_of_its_folder_or_what_fits_of_it(folder: str, path: str) -> None:
    result = receipt_path(folder, "waiting.json")
    if path.endswith("-"):
        assert result.startswith(path)
        assert len(result) == len(path) + 16 + len("/waiting.json")
        assert result != receipt_path(folder + "y", "waiting.json")
    else:
        assert result == path


def test_what_lies_in_a_folder_is_recognised_in_any_order_and_by_each_version() -> None:
    a, b = blob("a"), blob("b")
    assert contents_of([a, b]).digest == contents_of([b, a]).digest
    assert len({contents_of(some).digest for some in ([], [a], [a, b], [replace(a, etag="2"), b])}) == 4
    assert waiting_path("a/") == "a/|waiting"
