"""A long document is read and checked in a thread: the loop serves others meanwhile, at every door."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import azure.functions as func
import pytest

from functions.document import document_of
from shared.core.engine import Order, Submission
from shared.core.pacing.off_loop import LONG
from shared.intake.arrive import message_arrived
from shared.intake.drops.drop import look_at_folder
from shared.intake.message import read_request
from shared.intake.request_door import request_arrived, request_explained, request_validated, sweep_requested
from shared.jobspec import Limits
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import Engines, World, job_json

#: Bounds that only reading asks for, and one that only checking does.
_WATCHED = ("max_depth", "max_values", "max_node_hours")


@dataclass(frozen=True)
class Watched(Limits):
    """Limits that know in which threads documents are read and checked against them."""

    threads: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set), compare=False)

    def __getattribute__(self, name: str) -> Any:
        if name in _WATCHED:
            object.__getattribute__(self, "threads")[name].add(threading.get_ident())
        return object.__getattribute__(self, name)


def document(count: int, **envelope: Any) -> bytes:
    """A job of so many variables: 300 are a long document."""
    variables = [{"name": f"V{n}", "value": "x" * 60} for n in range(count)]
    return json.dumps({"spec": job_json(environmentVariables=variables), **envelope}).encode()


async def _submitted(world: World, body: bytes) -> None:
    request = await _read(world, body)
    await request_arrived(world.ports, request, door="http", source="http:", key="k", name="n")


async def _explained(world: World, body: bytes) -> None:
    await request_explained(world.ports, await _read(world, body), source="http:", key="k")


async def _validated(world: World, body: bytes) -> None:
    await request_validated(world.ports, await _read(world, body))


async def _swept(world: World, body: bytes) -> None:
    text = body.replace(b"echo hello", b"echo {a}").replace(b'{"spec"', b'{"sweep": {"a": [1, 2]}, "spec"')
    request = await _read(world, text)
    await sweep_requested(world.ports, request, door="http", source="http:", key="k")


async def _queued(world: World, body: bytes) -> None:
    await message_arrived(world.ports, body, "m")


async def _dropped(world: World, body: bytes) -> None:
    world.drops.upload("digits/job.json", body)
    world.pass_time(60)
    await look_at_folder(world.ports, "digits/")


async def _stored(world: World, body: bytes) -> None:
    world.drops.upload("specs/job.json", json.dumps(json.loads(body)["spec"]).encode())
    await message_arrived(world.ports, b'{"specBlob": "scripts/specs/job.json"}', "m")


async def _read(world: World, body: bytes) -> Any:
    headers = {"Content-Type": "application/json"}
    request = func.HttpRequest(method="POST", url="/api/jobs", headers=headers, body=body)
    return await document_of(request, world.ports.policy.limits)


DOORS: dict[str, Callable[[World, bytes], Awaitable[None]]] = {
    "submit": _submitted,
    "explain": _explained,
    "validate": _validated,
    "sweep": _swept,
    "queue": _queued,
    "drop": _dropped,
    "stored document": _stored,
}


@pytest.mark.parametrize("door", DOORS)
async def test_a_long_document_does_not_hold_the_loop(world: World, door: str) -> None:
    limits = Watched()
    world.policy(limits=limits)
    body = document(300)
    assert len(body) > LONG

    await DOORS[door](world, body)

    if door == "stored document":  # the message that names it is short
        del limits.threads["max_depth"], limits.threads["max_values"]
    assert limits.threads["max_node_hours"]
    assert threading.get_ident() not in set[int]().union(*limits.threads.values())


async def test_a_short_one_is_not_worth_a_thread(world: World) -> None:
    limits = Watched()
    world.policy(limits=limits)

    await _validated(world, document(3))

    assert set[int]().union(*limits.threads.values()) == {threading.get_ident()}


async def test_the_answer_is_the_same(world: World) -> None:
    body = document(300, nmae="x")

    one = await request_validated(world.ports, await _read(world, body))
    request = replace(read_request(body, world.ports.policy.limits), text=None)
    other = await request_validated(world.ports, request)

    assert [problem.code for problem in one.problems] == [problem.code for problem in other.problems] != []


class Watching(MemoryEngine):
    """An engine that knows in which threads its requests are built."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def submissions(self, order: Order) -> tuple[Submission, ...]:
        self.threads.add(threading.get_ident())
        return super().submissions(order)


async def test_the_answer_about_a_long_job_is_built_in_a_thread(world: World) -> None:
    engine = Watching()
    world.use(engines=Engines(engine))

    await _explained(world, document(300))

    assert engine.threads
    assert threading.get_ident() not in engine.threads
