"""Each part of the protocol with Slurm is needed: without it, some schedule breaks an invariant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

import shared.engines.slurm.attempts
import shared.engines.slurm.job.request
import shared.engines.slurm.jobs
import shared.lifecycle.cluster_pass
import shared.lifecycle.dispatch
from shared.core.engine import Submission
from shared.engines.slurm.copies import Verdict, judge
from shared.engines.slurm.jobs import SlurmJobs
from shared.engines.slurm.wire.dialect import Copy, copy_of
from tests.breadth import every_few
from tests.crash.chaos import Fault
from tests.crash.common_mutants import (
    earlier_attempts_left_alone,
    keys_of_earlier_attempts_left_out,
    no_claim_on_the_nodes,
    what_has_no_proof_counts,
)
from tests.crash.slurm.run import play
from tests.crash.slurm.slurmctld import OURS
from tests.crash.slurm.slurmrestd import Wire
from tests.crash.stories import STORIES

#: They show what the other tests of this folder notice, and change with those.
pytestmark = pytest.mark.thorough

Patch = pytest.MonkeyPatch


def not_held(patch: Patch) -> None:
    original = shared.engines.slurm.job.request.submission

    def mutant(*args: Any) -> Submission:
        request = original(*args)
        job = {name: value for name, value in request.body["job"].items() if name != "hold"}
        return replace(request, body={**request.body, "job": job})

    patch.setattr(shared.engines.slurm.attempts, "submission", mutant)


def released_at_once(patch: Patch) -> None:
    def mutant(copies: Any, now: float, settle: float) -> Verdict:
        return judge(copies, now, 0.0)

    patch.setattr(shared.engines.slurm.attempts, "judge", mutant)
    original = shared.engines.slurm.attempts.Attempts.submit

    async def submit(self: Any, order: Any, cluster: Any) -> None:
        await original(self, order, cluster)
        await self.status([order.target])

    patch.setattr(shared.engines.slurm.attempts.Attempts, "submit", submit)


def every_copy_released(patch: Patch) -> None:
    async def mutant(self: SlurmJobs, number: int) -> None:
        await self._update(number, {"hold": False})

    patch.setattr(SlurmJobs, "discard", mutant)


def forgotten_for_good(patch: Patch) -> None:
    async def mutant(*args: Any) -> None:
        return None

    patch.setattr(shared.lifecycle.cluster_pass, "submit_again", mutant)


def another_user_believed(patch: Patch) -> None:
    def mutant(*args: Any) -> Copy:
        return replace(copy_of(*args), user=OURS)

    patch.setattr(shared.engines.slurm.jobs, "copy_of", mutant)


#: Mutant → whether the nodes keep a claim, which would hide the mutant.
MUTANTS: Mapping[Callable[[Patch], None], bool] = {
    not_held: False,
    released_at_once: True,
    every_copy_released: False,
    forgotten_for_good: True,
    no_claim_on_the_nodes: False,
    another_user_believed: True,
    earlier_attempts_left_alone: True,
    what_has_no_proof_counts: True,
    keys_of_earlier_attempts_left_out: True,
}


@pytest.mark.parametrize("mutant", every_few(MUTANTS, 0), ids=lambda mutant: mutant.__name__)
async def test_the_harness_catches(mutant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mutant(monkeypatch)
    assert await _caught(fenced=MUTANTS[mutant]), "no schedule shows this mutant"


async def _caught(*, fenced: bool) -> str:
    for story in (STORIES[0], STORIES[2]):
        if result := (await play(story, imitated=True)).violations:
            return f"{story.name}, imitated: {result}"
        for lives in (1, 40):
            if result := (await play(story, lives=lives, fenced=fenced)).violations:
                return f"{story.name}, cut off: {result}"
        for wire in Wire:
            for n in range(1, 8):
                run = await play(story, wire={n: wire}, eager=True, forgets=0.0, fenced=fenced)
                if run.violations:
                    return f"{story.name}, {wire} at {n}: {run.violations}"
        calls = (await play(story, forgets=0.0)).chaos.calls
        for fault in (Fault.ZOMBIE, Fault.LATE, Fault.TWICE):
            for n in [n for n, name in enumerate(calls, 1) if name.startswith("engine.")]:
                run = await play(story, {n: fault}, eager=True, forgets=0.0, fenced=fenced, wake_after=8)
                if run.violations:
                    return f"{story.name}, {fault} at {n}: {run.violations}"
    return ""
