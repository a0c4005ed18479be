"""The harness proves itself for sweeps of jobs: it catches each broken variant of their protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pytest

from shared.adapters.storage.job_sweeps import TableJobSweeps
from shared.core.job import Job, JobState
from shared.core.job_sweeps.record import JobSweep, StoredSweep
from shared.core.ledger.entries import Active
from shared.core.notify.events import Notice
from tests.breadth import every_few
from tests.crash.simulate import simulate
from tests.crash.single_fault import check_caught
from tests.crash.stories import ONE_KEY, ONE_KEY_LATER, SWEPT, SWEPT_TWICE, Story

#: They show what the other tests of this folder notice, and change with those.
pytestmark = pytest.mark.thorough

Patch = pytest.MonkeyPatch


def one_seat_too_many(patch: Patch) -> None:
    def mutant(sweep: JobSweep, waiting: Iterable[int]) -> JobSweep:
        return sweep.model_copy(update={"seats": tuple(sorted({*sweep.seats, *waiting}))})

    patch.setattr(JobSweep, "with_seats", mutant)


def submitted_without_a_seat(patch: Patch) -> None:
    patch.setattr(Job, "needs_seat", property(lambda job: False))
    patch.setattr(Active, "needs_seat", property(lambda row: False))


def a_seat_stays_after_the_end(patch: Patch) -> None:
    original = JobSweep.after_ends

    def mutant(sweep: JobSweep, ends: Mapping[int, JobState]) -> JobSweep:
        return original(sweep, ends).model_copy(update={"seats": sweep.seats})

    patch.setattr(JobSweep, "after_ends", mutant)


def the_end_is_not_reported(patch: Patch) -> None:
    original = TableJobSweeps.end

    async def mutant(
        port: TableJobSweeps, stored: StoredSweep, after: JobSweep, notice: Notice | None
    ) -> StoredSweep | None:
        return await original(port, stored, after, None)

    patch.setattr(TableJobSweeps, "end", mutant)


def the_key_is_not_claimed(patch: Patch) -> None:
    async def mutant(port: TableJobSweeps, sweep_id: str, job_id: str) -> bool:
        return True

    patch.setattr(TableJobSweeps, "claim", mutant)


def a_claim_is_not_respected(patch: Patch) -> None:
    original = TableJobSweeps.claim

    async def mutant(port: TableJobSweeps, sweep_id: str, job_id: str) -> bool:
        await original(port, sweep_id, job_id)
        return True

    patch.setattr(TableJobSweeps, "claim", mutant)


def a_claim_is_not_known_again(patch: Patch) -> None:
    async def mutant(port: TableJobSweeps, job_id: str) -> None:
        return None

    patch.setattr(TableJobSweeps, "claimant", mutant)


CASES: tuple[tuple[Callable[[Patch], None], Story], ...] = (
    (one_seat_too_many, SWEPT),
    (submitted_without_a_seat, SWEPT),
    (a_seat_stays_after_the_end, SWEPT),
    (the_end_is_not_reported, SWEPT),
    (one_seat_too_many, SWEPT_TWICE),
    (the_key_is_not_claimed, ONE_KEY),
    (a_claim_is_not_respected, ONE_KEY),
    (a_claim_is_not_known_again, ONE_KEY_LATER),
)


@pytest.mark.parametrize(
    ("mutant", "story"), every_few(CASES, 0), ids=lambda one: getattr(one, "__name__", "") or one.name
)
async def test_the_harness_catches(mutant: Callable[[Patch], None], story: Story, monkeypatch: Patch) -> None:
    mutant(monkeypatch)
    # The end of a sweep is one of the last calls.
    await check_caught(story, from_the_end=True)


async def test_random_schedules_catch_a_seat_too_many(monkeypatch: Patch) -> None:
    one_seat_too_many(monkeypatch)

    assert any([await simulate(seed) for seed in range(20)])
