"""The table of shared stacks names what is there."""

import pytest

from tests.schedule import STACKS
from tests.unit.project.test_architecture import ROOT


@pytest.mark.parametrize("place", [place for places in STACKS.values() for place in places])
def test_every_place_of_a_shared_stack_is_there(place: str) -> None:
    assert (ROOT / place).exists()
