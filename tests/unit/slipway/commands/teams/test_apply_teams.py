"""`slipway teams apply`: which document it replaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from slipway.main import app


@pytest.mark.parametrize(
    ("options", "calls"),
    [
        ([], [("GET", None), ("PUT", {"version": "v1"})]),
        (["--dry-run"], [("GET", None), ("PUT", {"version": "v1", "dryRun": "true"})]),
        # A document that cannot be read has no version, and the API refuses an empty one.
        (["--force"], [("PUT", {})]),
    ],
)
def test_only_the_document_that_was_read_is_replaced_unless_any_may_be(
    options: list[str], calls: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[Any] = []

    async def request(_: Any, method: str, path: str, **members: Any) -> dict[str, Any]:
        requests.append((method, members.get("params")))
        return {"version": "v1", "changes": []}

    monkeypatch.setattr("slipway.client.service.Service._json", request)
    file = tmp_path / "teams.json"
    file.write_text("{}")
    line = ["teams", "apply", str(file), *options, "--url", "http://127.0.0.1:1"]

    result = CliRunner().invoke(app, line)

    assert (result.exit_code, result.stdout) == (0, "nothing changes\n")
    assert requests == calls
