"""The tables of shared stacks, and of tests that share nothing, name what is there."""

from pathlib import Path

import pytest

from tests.schedule import ALONE, STACKS

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("place", [*ALONE, *(place for places in STACKS.values() for place in places)])
def test_every_place_of_the_tables_is_there(place: str) -> None:
    assert (ROOT / place).exists()
