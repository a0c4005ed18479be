"""What a person reads of a run that did not succeed."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.commands.run.report import Report


@pytest.mark.parametrize(
    ("members", "more"),
    [
        ({}, "slipway show j_1"),
        ({"engine": {}}, "slipway show j_1, slipway download j_1"),
        (
            {"engine": {}, "attempt": 3},
            "slipway show j_1, slipway log j_1 --attempt 2, slipway download j_1",
        ),
    ],
)
def test_a_run_that_failed_names_the_commands_that_show_more(
    members: dict[str, Any], more: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Report().failure({"id": "j_1", "state": "failed", "message": "exit code 3", "attempt": 1, **members}, ())
    assert capsys.readouterr().err == f"slipway: failed: exit code 3; more: {more}\n"
