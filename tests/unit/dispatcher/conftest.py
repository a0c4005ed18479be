from __future__ import annotations

import pytest

from tests.unit.dispatcher.world import World


@pytest.fixture
def world() -> World:
    return World()
