from __future__ import annotations

import sys
from collections.abc import Iterator, Set

import pytest

from tests.unit.delivery.deliveries import Hooks, Outbox
from tests.unit.recorded import Written
from tests.unit.world import World

#: Events that unit tests must not cause: tests that start processes belong in tests/slow.
_PROCESSES = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.system"})
#: Whether a unit test is running. An audit hook cannot be removed.
_running = [False]


def _hook(event: str, _args: tuple[object, ...], processes: Set[str] = _PROCESSES) -> None:
    # The hook outlives the names of this module, but not its own arguments.
    if event in processes and _running[0]:
        raise PermissionError(f"a unit test must not start a process ({event}): it belongs in tests/slow")


sys.addaudithook(_hook)


@pytest.fixture(autouse=True)
def no_process_is_started() -> Iterator[None]:
    """Make a unit test fail if it starts a process."""
    _running[0] = True
    yield
    _running[0] = False


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def drops(world: World) -> Written:
    return Written(world.clock)


@pytest.fixture
def hooks(world: World) -> Hooks:
    world.use(webhooks=(receiver_hooks := Hooks()), outbox=Outbox())
    return receiver_hooks


@pytest.fixture
def outbox(world: World, hooks: Hooks) -> Outbox:
    result = world.ports.outbox
    assert isinstance(result, Outbox)
    return result
