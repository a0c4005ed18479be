from __future__ import annotations

import pytest

from tests.unit.delivery.deliveries import Hooks, Outbox
from tests.unit.recorded import Written
from tests.unit.world import World


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def drops(world: World) -> Written:
    return Written(world.clock)


@pytest.fixture
def hooks(world: World) -> Hooks:
    world.use(webhooks=(found := Hooks()), outbox=Outbox())
    return found


@pytest.fixture
def outbox(world: World, hooks: Hooks) -> Outbox:
    found = world.ports.outbox
    assert isinstance(found, Outbox)
    return found
