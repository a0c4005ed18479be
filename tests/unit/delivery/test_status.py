"""STATUS: the one line that is always current, anyone who writes it and anyone who comes late."""

from __future__ import annotations

from typing import Any

from shared.core.errors import Unavailable
from shared.core.job import JobState
from shared.delivery.deliver import deliver
from shared.delivery.receipt import status, status_line
from shared.delivery.receipt_files import put_status
from tests.doubles.memory import MemoryDrops
from tests.unit.dropped_folder import drop_folder, end, status_line_of, status_lines
from tests.unit.world import World, job_json


async def test_status_tells_each_transition_once_and_last_the_end(world: World) -> None:
    job = await drop_folder(world)
    await end(world, JobState.RUNNING)
    await end(world, JobState.SUCCEEDED, exit_code=0)

    assert status_lines(world) == ["accepted", "queued", "running", "succeeded"]
    line = status_line_of(world, job)
    assert line == f"succeeded 2026-01-01T12:02:10Z {job.id}: exit code 0\n"


async def test_passes_without_news_write_no_line_and_read_no_record(world: World) -> None:
    await drop_folder(world)
    written = len(world.drops.written)

    for _ in range(5):
        await world.make_pass()

    assert len(world.drops.written) == written


async def test_notes_between_two_states_write_no_line(world: World) -> None:
    await drop_folder(world)
    backup = dict(world.engine.jobs)
    world.engine.jobs.clear()
    await world.make_pass()  # a miss is noted in the record
    world.engine.jobs.update(backup)
    await world.make_pass()

    assert status_lines(world) == ["accepted", "queued"]


async def test_a_late_writer_never_replaces_a_newer_line(world: World) -> None:
    queued = await drop_folder(world)
    await end(world, JobState.RUNNING)

    await put_status(world.ports, queued)

    assert status_line_of(world, queued).startswith("running ")


async def test_a_line_that_could_not_be_written_is_written_by_the_next_sweep(world: World) -> None:
    class SilentDrops(MemoryDrops):
        async def put_status(self, *args: Any, **named: Any) -> bool:
            raise Unavailable("storage did not answer")

    drops = world.drops
    world.drops = SilentDrops(world.clock, drops.blobs, drops.receipt_files)
    world.use(drops=world.drops)
    job = await drop_folder(world)
    assert job.state is JobState.QUEUED
    assert f"{job.receipt}/STATUS" not in drops.receipt_files

    world.drops = drops
    world.use(drops=drops)
    await world.make_pass()

    assert status_line_of(world, job).startswith("queued ")


async def test_the_end_is_reported_later_when_storage_was_away(world: World) -> None:
    class SilentDrops(MemoryDrops):
        away = False

        async def put_status(self, name: str, line: bytes, sequence: int, *, fresh: bool = False) -> bool:
            if self.away:
                raise Unavailable("storage did not answer")
            return await super().put_status(name, line, sequence, fresh=fresh)

    drops = SilentDrops(world.clock)
    world.drops = drops
    world.use(drops=drops)
    job = await drop_folder(world)
    drops.away = True
    await end(world, JobState.SUCCEEDED)
    assert status_line_of(world, job).startswith("queued ")

    drops.away = False
    world.pass_time(3600)
    for row in [key[1].split("|") for key in list(world.ledger.rows) if key[1].startswith("o|")]:
        await deliver(world.ports, row[1], int(row[2]))

    assert status_line_of(world, job).startswith("succeeded ")


async def test_preemption_is_reported_too(world: World) -> None:
    await drop_folder(world)
    for state in (JobState.RUNNING, JobState.QUEUED, JobState.RUNNING):
        await end(world, state)
    assert status_lines(world) == ["accepted", "queued", "running", "queued", "running"]


async def test_a_job_that_no_one_dropped_has_no_status(world: World) -> None:
    await world.message(job_json())
    await world.make_pass()
    assert world.drops.written == []


def test_a_line_is_one_line_with_any_words_of_the_engine(world: World) -> None:
    line = status_line("j_x", JobState.FAILED, world.now, "first\nsecond\x1b[31m " + "x" * 900)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert b"\x1b" not in line
    assert len(line) <= 301


def test_submitting_is_accepted_to_people(world: World) -> None:
    assert status_line("j_x", JobState.SUBMITTING, world.now).startswith(b"accepted ")


async def test_a_line_shows_no_signature_of_an_address(world: World) -> None:
    job = await drop_folder(world)
    await end(world, JobState.FAILED, message="cannot mount https://a.example/x?sig=canary-9")
    assert "canary-9" not in status_line_of(world, job)
    assert b"canary-9" not in status(await world.job(job.id))
