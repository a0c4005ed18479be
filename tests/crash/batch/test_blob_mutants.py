"""Each part of the claims and records in blobs is needed: without it, some schedule breaks an invariant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import shared.engines.node.claim as claims
from shared.core.job import Target
from shared.engines.batch.storage.blob_records import BlobRecords
from shared.engines.node.blobs import Blobs, Container
from shared.engines.node.claim import Claim
from shared.engines.node.proof import Proof
from shared.engines.proofs import parsed
from tests.breadth import every_few
from tests.crash.batch.blobs import NodeFault
from tests.crash.batch.nodes import Cut
from tests.crash.batch.run import play_on_blobs
from tests.crash.batch.test_batch import GANG
from tests.crash.common_mutants import what_has_no_proof_counts
from tests.crash.stories import ARCHIVED, STORIES

#: They show what the other tests of this folder notice, and change with those.
pytestmark = pytest.mark.thorough

Patch = pytest.MonkeyPatch


def a_turn_is_written_without_a_condition(patch: Patch) -> None:
    patch.setattr(Blobs, "add", Blobs.write)


def a_lost_answer_is_final(patch: Patch) -> None:
    original = Container.call

    def mutant(self: Container, *args: Any, **named: Any) -> Any:
        return original(self, *args, **{**named, "patience": 0.0})

    patch.setattr(Container, "call", mutant)


def an_end_is_no_turn(patch: Patch) -> None:
    def mutant(self: Claim, value: dict[str, Any]) -> None:
        whole = {**value, "version": 1, "token": self._token, "run": self.run}
        self._attempt.child(self.run).write("result.json", whole)

    patch.setattr(Claim, "record", mutant)


def any_copy_may_follow(patch: Patch) -> None:
    patch.setattr(Claim, "_may_follow", lambda self, last: None)


def an_attempt_that_was_taken_away_goes_on(patch: Patch) -> None:
    patch.setattr(Claim, "is_held", lambda self: True)


def what_came_before_is_not_waited_for(patch: Patch) -> None:
    patch.setattr(claims, "_wait_until_left", lambda runs: None)


def earlier_attempts_keep_their_claim(patch: Patch) -> None:
    patch.setattr(Claim, "take_from", lambda self, earlier: None)


def the_end_of_an_earlier_attempt_is_not_answered(patch: Patch) -> None:
    original = Claim.take_from

    def mutant(self: Claim, earlier: list[list[str]]) -> None:
        original(self, earlier)

    patch.setattr(Claim, "take_from", mutant)


def nodes_believe_what_has_no_proof(patch: Patch) -> None:
    patch.setattr(Proof, "value", lambda self, name, text: parsed(text) if text else {})


def records_of_archived_jobs_stay(patch: Patch) -> None:
    async def mutant(self: BlobRecords, targets: Sequence[Target]) -> None:
        return None

    patch.setattr(BlobRecords, "remove", mutant)


MUTANTS: tuple[Callable[[Patch], None], ...] = (
    a_turn_is_written_without_a_condition,
    a_lost_answer_is_final,
    an_end_is_no_turn,
    any_copy_may_follow,
    an_attempt_that_was_taken_away_goes_on,
    what_came_before_is_not_waited_for,
    earlier_attempts_keep_their_claim,
    the_end_of_an_earlier_attempt_is_not_answered,
    what_has_no_proof_counts,
    nodes_believe_what_has_no_proof,
    records_of_archived_jobs_stay,
)


async def test_without_a_mutant_nothing_is_caught() -> None:
    assert await _caught() == ""


@pytest.mark.parametrize("mutant", every_few(MUTANTS, 1), ids=lambda mutant: mutant.__name__)
async def test_the_harness_catches(mutant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mutant(monkeypatch)
    assert await _caught(), "no schedule shows this mutant"


async def _caught() -> str:
    """The violations of the first schedule that has some."""
    one = STORIES[0]
    for story in (one, GANG, ARCHIVED):
        if result := (await play_on_blobs(story)).violations:
            return f"{story.name}: {result}"
    for cut in Cut:
        for lives in (1, 40):
            if result := (await play_on_blobs(one, cut=cut, lives=lives)).violations:
                return f"{cut} for {lives}: {result}"
    for fault in NodeFault:
        for n in range(1, 12):
            run = await play_on_blobs(one, node_faults={n: fault}, lives=40)
            others = [job.id for job in run.jobs() if job.attempt > 1 and fault is not NodeFault.RIVAL]
            if run.violations or others:
                return f"{fault} at call {n}: {run.violations} {others}"
    return ""
