"""Each attempt of a job keeps its log and its files, and why it failed can be read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from shared.core.caller import KEY_HOLDER
from shared.core.errors import Misuse
from shared.core.job import JobState, Reason
from shared.lifecycle.archive import archive
from shared.operate.files import output
from shared.operate.files.addresses import address_of_large, addresses
from shared.operate.files.attempts import attempt_of
from shared.operate.files.live import live
from shared.operate.files.metrics import as_json, metrics
from shared.operate.files.stderr import stderr
from shared.operate.files.zipped import zipped
from tests.unit.world import World, job_json

#: Every use case that reads what a job wrote, with the attempt.
READERS: dict[str, Callable[[World, str, str], Awaitable[Any]]] = {
    "log": lambda world, job, attempt: output.log(world.ports, job, None, "0", attempt=attempt),
    "files": lambda world, job, attempt: output.files(world.ports, job, "stdouterr", ".", attempt=attempt),
    "content": lambda world, job, attempt: output.content(
        world.ports, job, "stdouterr", "stderr.txt", attempt=attempt
    ),
    "outputs": lambda world, job, attempt: output.outputs(world.ports, job, attempt=attempt),
    "metrics": lambda world, job, attempt: metrics(world.ports, job, attempt=attempt),
    "errors": lambda world, job, attempt: stderr(world.ports, job, attempt=attempt),
    "live": lambda world, job, attempt: live(world.ports, job, "", KEY_HOLDER, attempt=attempt),
    "zip": lambda world, job, attempt: zipped(world.ports, job, "stdouterr", ".", attempt=attempt),
    "addresses": lambda world, job, attempt: addresses(
        world.ports, job, "stdouterr", ".", "", attempt=attempt
    ),
    "address": lambda world, job, attempt: address_of_large(
        world.ports, job, "stdouterr", "stderr.txt", attempt=attempt
    ),
}


async def failed_once(world: World, *, waits: bool = False) -> str:
    """A job whose first attempt failed; the second runs, or waits."""
    job = (await world.message({"spec": job_json(), "retry": {"user": 1}})).job.id
    (first,) = world.engine.started
    world.engine.outputs[first] = {"stdout.txt": b"1\n", "stderr.txt": b"ValueError: one\n"}
    world.engine.set_state(first, JobState.FAILED, reason=Reason.USER, exit_code=3)
    await world.make_pass()
    if not waits:
        await world.make_pass(3600)
        second = world.engine.started[-1]
        world.engine.outputs[second] = {"stdout.txt": b"2\n", "stderr.txt": b"ValueError: two\n"}
        world.engine.set_state(second, JobState.RUNNING)
        await world.make_pass()
    return job


async def test_the_numbers_of_each_attempt_are_read_from_where_they_were_left(world: World) -> None:
    job = await failed_once(world)
    for number, name in enumerate(world.engine.started, start=1):
        world.engine.outputs[name]["stdout.txt"] = b'{"slipway": {"step": 1, "loss": %d}}\n' % number

    for attempt, number in (("", 2), ("2", 2), ("1", 1)):
        answer = as_json(await metrics(world.ports, job, attempt=attempt))
        (series,) = answer["series"]
        assert series["points"] == [[1, number]]
        again = as_json(await metrics(world.ports, job, answer["next"], attempt=attempt))
        assert (again["series"], again["restarted"]) == ([], False)
    other = as_json(await metrics(world.ports, job, answer["next"], attempt="2"))
    assert other["restarted"]


@pytest.mark.parametrize(("attempt", "number"), [("", 2), ("2", 2), ("1", 1)])
async def test_the_files_of_each_attempt_are_read(world: World, attempt: str, number: int) -> None:
    job = await failed_once(world)
    name, chunk, more = await output.log(world.ports, job, "stdout.txt", "0", attempt=attempt)
    assert (name, chunk.data) == ("stdout.txt", b"%d\n" % number)
    (end,) = (await stderr(world.ports, job, attempt=attempt)).files
    assert end.lines == (f"ValueError: {'one' if number == 1 else 'two'}",)
    held = await output.content(world.ports, job, "stdouterr", "stderr.txt", attempt=attempt)
    assert held.data.decode() == f"{end.lines[0]}\n"
    assert more, "there are bytes"
    _, _, more = await output.log(world.ports, job, "stdout.txt", "2", attempt=attempt)
    assert more is (number == 2), "an attempt that has ended writes no more"


@pytest.mark.parametrize("reader", READERS)
async def test_an_earlier_attempt_is_read_while_the_next_one_waits(world: World, reader: str) -> None:
    job = await failed_once(world, waits=True)
    await READERS[reader](world, job, "1")
    with pytest.raises(Misuse, match="the job is accepted in attempt 2, so no node has run it") as caught:
        await READERS["log"](world, job, "")
    assert (caught.value.status, caught.value.remedy) == (409, "read those of the attempt before: attempt=1")


@pytest.mark.parametrize("reader", [name for name in READERS if name != "address"])
@pytest.mark.parametrize(
    ("attempt", "status"), [("3", 404), ("0", 400), ("-1", 400), ("1.0", 400), ("x", 400), ("9" * 99, 400)]
)
async def test_an_attempt_that_the_job_does_not_have_is_refused(
    world: World, reader: str, attempt: str, status: int
) -> None:
    job = await failed_once(world)
    with pytest.raises(Misuse) as caught:
        await READERS[reader](world, job, attempt)
    assert caught.value.status == status


async def test_the_record_of_an_earlier_attempt_has_its_end_and_none_of_what_the_current_one_has(
    world: World,
) -> None:
    job = await failed_once(world)
    one = (await attempt_of(world.ports, job, "1", KEY_HOLDER)).job
    assert (one.attempt, one.state, one.reason) == (1, JobState.FAILED, Reason.USER)
    assert (one.segment, one.handle) == ("", "")
    assert one.fixed_target.name.endswith("-1")
    assert one.fixed_target.token == f"{job}.1"


async def test_the_cluster_keeps_every_attempt_until_the_job_is_archived(world: World) -> None:
    job = await failed_once(world)
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()
    assert (await output.log(world.ports, job, None, "0", attempt="1")).chunk.data == b"1\n"
    world.pass_time(31 * 86_400)
    assert (await archive(world.ports)).jobs == 1
    with pytest.raises(Misuse, match="has forgotten it"):
        await output.log(world.ports, job, None, "0", attempt="1")
