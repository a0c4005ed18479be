"""After any fault of a request of a node, the next run begins with one whole generation, never an older one.

Each request of three runs loses its answer, or its node is taken away, before or after it has its effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from threading import Lock

import pytest

from shared.engines.node import blobs
from shared.engines.node.blobs import Answer
from shared.engines.node.saved.generations import Moment
from shared.engines.node.saved.node import Saved
from shared.engines.node.saved.shelf import Shelf
from tests.breadth import every_few
from tests.crash.batch.container import Container
from tests.crash.batch.nodes import NodeLost

_WHERE = {
    "container": "http://127.0.0.1/acct/c",
    "signature": "s",
    "prefix": "c/saved/j",
    "proof": ["ab" * 32],
}


class Fault(StrEnum):
    """What happens to a request of the story, once."""

    LOST = "it works, its answer is lost"
    TAKEN_BEFORE = "the node is taken away before it"
    TAKEN_AFTER = "the node is taken away after it"


@dataclass
class World:
    """The container, the disks of nodes, and what their job has saved: a number, in a file of each node."""

    disks: Path
    nodes: int
    fault: Fault | None = None
    at: int = 0
    container: Container = field(default_factory=Container)
    requests: list[str] = field(default_factory=list)
    #: the last number whose write-back has begun on some node, and has ended on all
    begun: int = 0
    ended: int = 0

    def run(self, number: int, values: range) -> None:
        """One run, which saves these numbers one after the other, until its nodes are taken away."""
        with suppress(NodeLost):
            nodes = list(self._started(number))
            for value in values:
                for node, (_, disk) in enumerate(nodes):
                    (disk / f"step-{node}").write_text("x" * value)
                    for path in disk.glob("only-*"):
                        path.unlink()
                    (disk / f"only-{value}-{node}").touch()
                self.begun = value
                for saved, _ in reversed(nodes):
                    saved.write_back(10 * value)
                self.ended = value

    def _started(self, number: int) -> Iterator[tuple[Saved, Path]]:
        for node in range(self.nodes):
            disk = self.disks / f"{number}-{node}"
            run = Moment(1, number, 0)
            shelf = Shelf(_Node(self), _WHERE)
            saved = Saved(shelf, str(disk), run, node, self.nodes, sleep=lambda seconds: None)
            saved.fill()
            self._check(disk)
            saved.begin()
            yield saved, disk

    def _check(self, disk: Path) -> None:
        sizes = {path.name: path.stat().st_size for path in disk.iterdir()}
        values = {size for name, size in sizes.items() if name.startswith("step-")} or {0}
        assert len(values) == 1, f"{sizes}: parts of several generations"
        (value,) = values
        assert self.ended <= value <= self.begun, f"{value}: {self.ended} was saved, {self.begun} at most"
        names = [f"{name}-{node}" for name in ("step", f"only-{value}") for node in range(self.nodes)]
        assert sorted(sizes) == (sorted(names) if value else [])


class _Node(blobs.Container):
    """A node's way to the container."""

    def __init__(self, world: World) -> None:
        super().__init__(_WHERE)  # type: ignore[arg-type]
        self._world, self._is_there, self._lock = world, True, Lock()

    def _call(
        self, method: str, name: str, query: dict[str, str], headers: dict[str, str], body: bytes
    ) -> Answer:
        with self._lock:  # it sends some at a time
            return self._answer(method, name, query, headers, body)

    def _answer(
        self, method: str, name: str, query: dict[str, str], headers: dict[str, str], body: bytes
    ) -> Answer:
        if not self._is_there:
            raise NodeLost
        world = self._world
        world.requests.append(f"{method} {name or query}")
        fault = world.fault if len(world.requests) == world.at else None
        self._is_there = fault not in (Fault.TAKEN_BEFORE, Fault.TAKEN_AFTER)
        if fault is Fault.TAKEN_BEFORE:
            raise NodeLost
        answer = world.container.answer(method, name, query, headers, body)
        if fault is Fault.TAKEN_AFTER:
            raise NodeLost
        if fault is Fault.LOST:
            raise ConnectionResetError
        return answer


def play(world: World) -> None:
    """Runs one after the other, of which one may be cut short."""
    world.run(1, range(1, 3))
    world.run(2, range(3, 5))
    world.run(3, range(5, 7))


def end(world: World) -> None:
    """A last run without a fault, after which nothing is left over."""
    world.fault = None
    world.run(4, range(7, 8))
    assert world.ended == 7
    blobs_left = [name.removeprefix("c/saved/j/") for name in world.container.blobs]
    kinds = [name.partition("/")[0] for name in blobs_left]
    assert sorted(kinds) == ["generations"] * world.nodes + ["parts"] * 2 * world.nodes + ["ran"]


#: The requests of the story without a fault, by the nodes of its job.
_REQUESTS = {1: 80, 2: 162}


@pytest.mark.parametrize("nodes", [1, 2])
def test_the_story_has_as_many_requests_as_are_tried(tmp_path: Path, nodes: int) -> None:
    world = World(tmp_path, nodes)

    play(world)

    assert world.ended == 6
    assert len(world.requests) == _REQUESTS[nodes]
    end(world)


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize(
    ("nodes", "at"),
    [(nodes, at) for nodes, count in _REQUESTS.items() for at in every_few(list(range(1, count + 1)), 9)],
)
def test_any_fault_of_a_request_leaves_a_whole_generation(
    tmp_path: Path, nodes: int, at: int, fault: Fault
) -> None:
    world = World(tmp_path, nodes, fault, at)

    play(world)

    assert len(world.requests) >= at
    end(world)
