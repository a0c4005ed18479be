"""The harness proves itself for quotas: it catches each broken variant of their protocol."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

import shared.lifecycle.teams.claims
import shared.lifecycle.teams.lending
import shared.lifecycle.teams.rows
from shared.adapters.storage.teams import TableTeams
from shared.core.job import Job
from shared.core.ledger.entries import Active
from shared.core.ports import Ports
from shared.core.relations.claim import Claim
from shared.core.teams.document import Quota
from shared.core.teams.persons import Persons
from shared.core.teams.use import TeamUse
from tests.breadth import every_few
from tests.crash.single_fault import check_caught
from tests.crash.stories import Story
from tests.crash.teams.team_stories import (
    AT_ONCE,
    ONE_PERSON,
    RECALLED,
    RECALLED_AND_CANCELLED,
    RECALLED_IN_VAIN,
    SHARED,
    TWICE,
)

#: They show what the other tests of this folder notice, and change with those.
pytestmark = pytest.mark.thorough

Patch = pytest.MonkeyPatch


def every_claim_is_given(patch: Patch) -> None:
    def mutant(use: TeamUse, waiting: Iterable[tuple[str, Claim]], quota: Quota, month: str) -> TeamUse:
        return replace(use, claims={**use.claims, **dict(waiting)})

    patch.setattr(TeamUse, "with_claims", mutant)


def submitted_without_a_claim(patch: Patch) -> None:
    patch.setattr(Job, "needs_claim", property(lambda job: False))
    patch.setattr(Active, "needs_claim", property(lambda row: False))


def a_claim_stays_after_the_end(patch: Patch) -> None:
    def mutant(use: TeamUse, ended: Iterable[Job]) -> TeamUse:
        return use

    patch.setattr(TeamUse, "after_ends", mutant)


def an_end_is_counted_again(patch: Patch) -> None:
    original = TeamUse.after_ends

    def mutant(use: TeamUse, ended: Iterable[Job]) -> TeamUse:
        every = list(ended)
        claims = {job.id: job.claim for job in every if job.claim is not None}
        return original(replace(use, claims={**use.claims, **claims}), every)

    patch.setattr(TeamUse, "after_ends", mutant)


def a_job_gets_a_claim_without_a_look(patch: Patch) -> None:
    async def mutant(ports: Ports, jobs: Collection[str], current: object = None) -> set[str]:
        return set()

    for module in (shared.lifecycle.teams.claims, shared.lifecycle.teams.rows):
        patch.setattr(module, "outdated", mutant)


def a_claim_goes_without_being_counted(patch: Patch) -> None:
    def mutant(use: TeamUse, ended: Iterable[Job]) -> TeamUse:
        ids = {job.id for job in ended}
        return replace(use, claims={job: one for job, one in use.claims.items() if job not in ids})

    patch.setattr(TeamUse, "after_ends", mutant)


def a_claim_goes_before_the_end(patch: Patch) -> None:
    original = TeamUse.with_claims

    def mutant(use: TeamUse, waiting: Iterable[tuple[str, Claim]], quota: Quota, month: str) -> TeamUse:
        return original(replace(use, claims={}), waiting, quota, month)

    patch.setattr(TeamUse, "with_claims", mutant)


def the_last_writer_wins(patch: Patch) -> None:
    original = TableTeams.put_use

    async def mutant(port: TableTeams, use: TeamUse) -> TeamUse | None:
        return await original(port, replace(use, etag=(await port.use(use.team)).etag))

    patch.setattr(TableTeams, "put_use", mutant)


def a_loan_goes_before_the_job_has_stopped(patch: Patch) -> None:
    async def mutant(ports: Ports, job_id: str, claim: Claim) -> Job | None:
        stored = await ports.ledger.get(job_id)
        return stored.job.model_copy(update={"claim": claim.given_back}) if stored is not None else None

    patch.setattr(shared.lifecycle.teams.lending, "_taken_back", mutant)


def what_gave_its_claim_back_is_not_counted(patch: Patch) -> None:
    original = TeamUse.after_returns

    def mutant(use: TeamUse, jobs: Iterable[Job]) -> TeamUse:
        return replace(original(use, jobs), returned={})

    patch.setattr(TeamUse, "after_returns", mutant)


def a_loan_is_written_in_one_row(patch: Patch) -> None:
    async def mutant(port: TableTeams, uses: Sequence[TeamUse]) -> list[TeamUse] | None:
        first = await port.put_uses(uses[:1]) if len(uses) > 1 else await original(port, uses)
        return first and [*first, *uses[1:]]

    original = TableTeams.put_uses
    patch.setattr(TableTeams, "put_uses", mutant)


def a_claim_counts_that_was_given_back(patch: Patch) -> None:
    patch.setattr(Claim, "is_of", lambda claim, other: other is not None)


def a_recall_is_taken_back_at_once(patch: Patch) -> None:
    patch.setattr(shared.lifecycle.teams.lending, "_UNDER_WAY", timedelta(0))


def no_person_is_held_back(patch: Patch) -> None:
    patch.setattr(Persons, "hold_back", lambda persons, claim: False)


CASES: tuple[tuple[Callable[[Patch], None], Story], ...] = (
    (every_claim_is_given, SHARED),
    (submitted_without_a_claim, SHARED),
    (a_claim_stays_after_the_end, SHARED),
    (a_claim_goes_before_the_end, SHARED),
    (an_end_is_counted_again, SHARED),
    (a_claim_goes_without_being_counted, SHARED),
    (a_job_gets_a_claim_without_a_look, SHARED),
    (the_last_writer_wins, AT_ONCE),
    (the_last_writer_wins, TWICE),
    (a_loan_goes_before_the_job_has_stopped, RECALLED),
    (what_gave_its_claim_back_is_not_counted, RECALLED_AND_CANCELLED),
    (a_loan_is_written_in_one_row, RECALLED),
    (a_claim_counts_that_was_given_back, RECALLED),
    (no_person_is_held_back, ONE_PERSON),
    (a_recall_is_taken_back_at_once, RECALLED_IN_VAIN),
)


@pytest.mark.parametrize(
    ("mutant", "story"), every_few(CASES, 0), ids=lambda one: getattr(one, "__name__", "") or one.name
)
async def test_the_harness_catches(mutant: Callable[[Patch], None], story: Story, monkeypatch: Patch) -> None:
    mutant(monkeypatch)
    await check_caught(story)
