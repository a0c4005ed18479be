"""The table of shared stacks names what is there."""

from pathlib import Path

import pytest

from tests.schedule import STACKS

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("place", [place for places in STACKS.values() for place in places])
def test_every_place_of_a_shared_stack_is_there(place: str) -> None:
    assert (ROOT / place).exists()
