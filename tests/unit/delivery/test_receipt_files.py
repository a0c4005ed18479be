"""Who writes which file, when, and what stands there already: receipt, diagnostics, STATUS."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest

from shared.core.errors import Misconfigured
from shared.core.job import Job, JobState
from shared.core.ledger.entries import Active, StatusLine, packed
from shared.delivery.receipt import diagnostics, diagnostics_json, receipt, status
from shared.delivery.receipt_files import put_accepted, put_final, put_news, put_status, put_statuses
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.recorded import (
    DROP,
    FAILED,
    NOON,
    RUN,
    TARGET,
    Recorded,
    Written,
    at,
    job_of,
    ports_of,
    spec,
)
from tests.unit.world import World

# Accepted


async def test_the_first_receipt_says_what_was_accepted_and_expects_no_line(
    world: World, drops: Written
) -> None:
    job = job_of((0, JobState.ACCEPTED), drop=DROP)
    await put_accepted(ports_of(world, drops, job), job, spec())

    assert drops.receipt_files == {
        "default/r/receipt.json": receipt(job, spec()),
        "default/r/STATUS": status(job),
    }
    assert drops.fresh == [True]


async def test_the_first_receipt_comes_late_to_a_job_that_has_ended(world: World, drops: Written) -> None:
    job = job_of((0, JobState.ACCEPTED))
    drops.receipt_files["default/r/receipt.json"] = b"the end"
    await put_accepted(ports_of(world, drops, job), job, spec())
    assert drops.receipt_files == {"default/r/receipt.json": b"the end"}


# Final


async def test_the_last_receipt_of_a_rejected_job_has_its_diagnostics_twice(
    world: World, drops: Written
) -> None:
    job = job_of((0, JobState.REJECTED), message="invalid", drop=DROP)
    earlier = ("receipt.json", "diagnostics.txt", "diagnostics.json")
    drops.receipt_files = {f"default/r/{name}": b"an earlier text" for name in earlier}

    await put_final(ports_of(world, drops, job), job.id)

    assert drops.receipt_files == {
        "default/r/receipt.json": receipt(job, None),
        "default/r/diagnostics.txt": diagnostics(job),
        "default/r/diagnostics.json": diagnostics_json(job),
        "default/r/STATUS": status(job),
    }


async def test_who_reads_the_end_in_status_finds_it_in_the_receipt(world: World, drops: Written) -> None:
    job = job_of(*RUN, (2, JobState.SUCCEEDED), drop=DROP, target=TARGET)
    await put_final(ports_of(world, drops, job, spec()), job.id)

    assert drops.order == ["default/r/receipt.json", "default/r/STATUS"]
    assert drops.lines == {"default/r/receipt.json": 3, "default/r/STATUS": 3}
    assert drops.receipt_files["default/r/receipt.json"] == receipt(job, spec(), engine="memory")


async def test_a_job_that_no_one_dropped_gets_its_receipt_alone(world: World, drops: Written) -> None:
    job = job_of(*RUN, (2, JobState.SUCCEEDED))
    drops.receipt_files["default/r/receipt.json"] = b"an earlier text"
    await put_final(ports_of(world, drops, job), job.id)
    assert drops.order == ["default/r/receipt.json"]
    assert drops.receipt_files == {"default/r/receipt.json": receipt(job, None)}


async def test_who_has_the_document_spares_the_ledger_a_read(world: World, drops: Written) -> None:
    job = job_of(*RUN, drop=DROP)
    ports = replace(world.ports, ledger=Recorded(job, unreadable=True), drops=drops)  # type: ignore[arg-type]
    await put_news(ports, job, spec())
    assert drops.receipt_files["default/r/receipt.json"] == receipt(job, spec())


@pytest.mark.parametrize("job", [None, job_of(archived="2026/01/01.jsonl")], ids=["unknown", "archived"])
async def test_nothing_is_written_of_a_job_whose_record_is_not_there(
    world: World, drops: Written, job: Job | None
) -> None:
    await put_final(ports_of(world, drops, job), job_of().id)
    assert drops.order == []


async def test_a_document_that_cannot_be_read_keeps_no_receipt_away(world: World, drops: Written) -> None:
    job = job_of(*RUN, (2, JobState.SUCCEEDED))
    ports = replace(world.ports, ledger=Recorded(job, unreadable=True), drops=drops)  # type: ignore[arg-type]
    await put_final(ports, job.id)
    assert drops.receipt_files["default/r/receipt.json"] == receipt(job, None)


async def test_an_engine_that_is_not_configured_any_more_stands_by_its_name(
    world: World, drops: Written
) -> None:
    class NoEngines:
        def get(self, engine: str) -> MemoryEngine:
            raise Misconfigured(f"no engine {engine}")

    job = job_of(*RUN, FAILED, target=TARGET)
    await put_final(ports_of(world, drops, job, engines=NoEngines()), job.id)
    assert drops.receipt_files["default/r/receipt.json"] == receipt(job, None, engine="slurm")


# On the way


async def test_receipt_and_line_of_a_drop_under_way_change_together(world: World, drops: Written) -> None:
    job = job_of(*RUN, drop=DROP, target=TARGET, handle="17")
    await put_news(ports_of(world, drops, job, spec()), job)

    assert drops.order == ["default/r/receipt.json", "default/r/STATUS"]
    assert drops.lines == {"default/r/receipt.json": 2, "default/r/STATUS": 2}
    assert drops.receipt_files["default/r/receipt.json"] == receipt(job, spec(), engine="memory")


async def test_a_late_receipt_never_replaces_that_of_the_end(world: World, drops: Written) -> None:
    ended = job_of(*RUN, (2, JobState.SUCCEEDED), drop=DROP, target=TARGET)
    await put_final(ports_of(world, drops, ended, spec()), ended.id)
    late = job_of(*RUN, drop=DROP, target=TARGET)
    await put_news(ports_of(world, drops, late, spec()), late)
    assert drops.receipt_files["default/r/receipt.json"] == receipt(ended, spec(), engine="memory")


@pytest.mark.parametrize("job", [job_of(*RUN), job_of(*RUN, FAILED, drop=DROP)], ids=["no drop", "ended"])
async def test_there_is_no_news_of_a_job_without_a_drop_or_one_that_has_ended(
    world: World, drops: Written, job: Job
) -> None:
    await put_news(ports_of(world, drops, job, spec()), job)
    assert drops.order == []


async def test_a_document_that_cannot_be_read_keeps_the_line_going(world: World, drops: Written) -> None:
    job = job_of(*RUN, drop=DROP)
    ports = replace(world.ports, ledger=Recorded(job, unreadable=True), drops=drops)  # type: ignore[arg-type]
    await put_news(ports, job)
    assert drops.order == ["default/r/STATUS"]


async def test_what_could_not_be_written_is_left_to_the_sweeper_as_a_whole(
    world: World, drops: Written, caplog: pytest.LogCaptureFixture
) -> None:
    drops.away = True
    job = job_of(*RUN, drop=DROP)
    await put_news(ports_of(world, drops, job, spec()), job)
    assert drops.receipt_files == {}
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


@pytest.mark.parametrize("fresh", [False, True])
async def test_the_line_of_a_drop_under_way_has_the_number_of_its_transition(
    world: World, drops: Written, fresh: bool
) -> None:
    job = job_of(*RUN, drop=DROP)
    await put_status(ports_of(world, drops, job), job, fresh=fresh)
    assert drops.receipt_files == {"default/r/STATUS": status(job)}
    assert (drops.lines, drops.fresh) == ({"default/r/STATUS": 2}, [fresh])


@pytest.mark.parametrize("job", [job_of(*RUN), job_of(*RUN, FAILED, drop=DROP)], ids=["no drop", "ended"])
async def test_there_is_no_line_for_a_job_without_a_drop_and_its_end_is_reported_by_the_last_receipt(
    world: World, drops: Written, job: Job
) -> None:
    await put_status(ports_of(world, drops, job), job)
    assert drops.order == []


async def test_a_line_that_cannot_be_written_stops_no_one(
    world: World, drops: Written, caplog: pytest.LogCaptureFixture
) -> None:
    drops.away = True
    job = job_of(*RUN, drop=DROP)
    await put_status(ports_of(world, drops, job), job)
    await put_statuses(ports_of(world, drops, job), [_row(0)])
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2


async def test_a_line_that_was_lost_comes_with_its_receipt(world: World, drops: Written) -> None:
    job = job_of(*RUN, drop=DROP)
    shown = StatusLine("default/r/STATUS", 2, at(1))
    await put_statuses(ports_of(world, drops, job, spec()), [_row(0, shown=shown, packed=packed(job))])
    assert drops.receipt_files["default/r/receipt.json"] == receipt(job, spec())


def _row(number: int, **members: Any) -> Active:
    job_id = f"j_{number}"
    shown = StatusLine(f"{job_id}/STATUS", number + 5, at(number))
    return Active(
        **{"job_id": job_id, "state": JobState.QUEUED, "due": NOON, "target": None, "shown": shown, **members}
    )


async def test_the_lines_of_many_jobs_follow_from_their_rows_and_few_are_checked_at_once(
    world: World, drops: Written
) -> None:
    rows = [_row(0, waits="for a node"), _row(1, shown=None), *(_row(n) for n in range(2, 60))]
    await put_statuses(ports_of(world, drops, None), iter(rows))

    assert drops.receipt_files["j_0/STATUS"] == b"queued 2026-01-01T12:00:00Z j_0: for a node\n"
    assert drops.receipt_files["j_59/STATUS"] == b"queued 2026-01-01T12:00:59Z j_59\n"
    assert drops.lines == {f"j_{n}/STATUS": n + 5 for n in range(60) if n != 1}
    assert drops.most_at_once == 16
