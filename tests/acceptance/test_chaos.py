"""A short chaos run: workers killed, storage and cluster failing; `make chaos` runs two thousand jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.__main__ import chaos, options_of

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_under_kills_and_faults_nothing_is_lost_doubled_or_left_untold(tmp_path: Path) -> None:
    options = options_of(["--jobs=40", "--workers=2", "--kill-every=5", "--seed=1"])
    assert await chaos(options, tmp_path)
