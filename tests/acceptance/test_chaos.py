"""A short chaos run: workers and storage killed, services failing; `make chaos` runs two thousand jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.__main__ import chaos, options_of

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.thorough
async def test_under_kills_and_faults_nothing_is_lost_doubled_or_left_untold(tmp_path: Path) -> None:
    kills = ["--kill-every=5", "--kill-storage-every=15"]
    # How many passes it takes hangs on how busy the machine is: `make chaos` has a bound for that.
    good, _ = await chaos(options_of(["--jobs=40", "--workers=2", "--seed=1", *kills]), tmp_path)

    assert good


@pytest.mark.thorough
async def test_the_same_holds_on_azure_batch_whose_service_is_killed_and_whose_nodes_are_taken(
    tmp_path: Path,
) -> None:
    kills = ["--kill-every=8", "--kill-storage-every=25"]
    words = ["--cluster=batch", "--jobs=16", "--workers=2", "--seed=1", *kills]
    good, _ = await chaos(options_of(words), tmp_path)

    assert good
