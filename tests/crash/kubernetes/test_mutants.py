"""Each part of the protocol with Kubernetes is needed: without it, some schedule breaks an invariant."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest

import shared.engines.kubernetes.attempts
import shared.engines.kubernetes.looks
import shared.engines.kubernetes.namespace
import shared.engines.kubernetes.translation.observations
import shared.engines.kubernetes.wire.objects
import shared.lifecycle.dispatch
from shared.core.engine import Observation
from shared.core.errors import Conflict
from shared.core.job import JobState, Target
from shared.engines.kubernetes.attempts import Attempts
from shared.engines.kubernetes.bulk_status import BulkStatus
from shared.engines.kubernetes.job.request import job
from shared.engines.kubernetes.looks import Looks
from shared.engines.kubernetes.namespace import Namespace
from shared.engines.kubernetes.translation.observations import observation
from shared.engines.kubernetes.wire.objects import Creation, make
from tests.breadth import every_few, size
from tests.crash.common_mutants import (
    earlier_attempts_left_alone,
    keys_of_earlier_attempts_left_out,
    no_claim_on_the_nodes,
    what_has_no_proof_counts,
)
from tests.crash.kubernetes.run import play
from tests.crash.kubernetes.test_kubernetes import GANG
from tests.crash.kubernetes.wire import Wire
from tests.crash.stories import ARCHIVED, CANCELLED, PREEMPTED, STORIES

#: They show what the other tests of this folder notice, and change with those.
pytestmark = pytest.mark.thorough

Patch = pytest.MonkeyPatch
_ATTEMPTS = shared.engines.kubernetes.attempts
_LOOKS = shared.engines.kubernetes.looks


def a_taken_name_is_an_error(patch: Patch) -> None:
    async def mutant(client: Any, path: str, body: Any) -> Creation:
        created = await make(client, path, body)
        if not created.is_new:
            raise Conflict("it is there")
        return created

    patch.setattr(_ATTEMPTS, "make", mutant)


def a_name_of_its_own_each_time(patch: Patch) -> None:
    names = iter(range(1_000_000))

    async def mutant(client: Any, path: str, body: Any) -> Creation:
        if body["kind"] == "Job":
            metadata = {**body["metadata"], "name": f"{body['metadata']['name']}x{next(names)}"}
            body = {**body, "metadata": metadata}
        return await make(client, path, body)

    patch.setattr(_ATTEMPTS, "make", mutant)


def any_job_of_its_name_is_its_own(patch: Patch) -> None:
    patch.setattr(shared.engines.kubernetes.wire.objects, "token_of", lambda document: "")
    patch.setattr(_LOOKS, "token_of", lambda document: document["metadata"]["annotations"].get("x", "t"))


def a_name_that_is_being_deleted_is_free(patch: Patch) -> None:
    async def mutant(client: Any, path: str, body: Any) -> Creation:
        answer = await client.call("POST", path, body, accept=("AlreadyExists",))
        return Creation(answer.body if not answer.reason else {**body, "metadata": {"uid": "u"}}, True)

    patch.setattr(_ATTEMPTS, "make", mutant)


def cancelled_by_deletion(patch: Patch) -> None:
    async def mutant(self: Namespace, own: Any, now: str) -> None:
        await self.delete(own)

    patch.setattr(Namespace, "stop", mutant)


def cancelled_in_our_records_only(patch: Patch) -> None:
    async def mutant(self: Namespace, own: Any, now: str) -> None:
        return None

    patch.setattr(Namespace, "stop", mutant)


def left_in_its_queue(patch: Patch) -> None:
    async def mutant(self: Namespace, own: Any) -> None:
        return None

    patch.setattr(Namespace, "_take_from_queue", mutant)


def given_up_by_its_queue_unseen(patch: Patch) -> None:
    async def mutant(self: Looks, own: Any) -> bool:
        return True

    patch.setattr(Looks, "_is_held", mutant)
    patch.setattr(shared.engines.kubernetes.namespace, "_NO_PODS", {})


def forgotten_before_its_end(patch: Patch) -> None:
    original = BulkStatus.status

    async def mutant(self: BulkStatus, targets: Sequence[Target]) -> Mapping[str, Observation]:
        result = await original(self, targets)
        for target in targets:
            if (own := await self._looks.own(target)) is not None:
                await self._namespace.delete(own)
        return result

    patch.setattr(BulkStatus, "status", mutant)


def secrets_are_not_made_again(patch: Patch) -> None:
    names: set[str] = set()

    async def mutant(client: Any, path: str, body: Any) -> Creation:
        name = body["metadata"]["name"]
        if body["kind"] == "Secret" and name in names:
            return Creation(body, is_new=True)
        names.add(name)
        return await make(client, path, body)

    patch.setattr(_ATTEMPTS, "make", mutant)


def a_lost_node_is_an_end_at_once(patch: Patch) -> None:
    def mutant(evidence: Any, now: Any) -> Observation:
        return observation(evidence, now, timedelta(0))

    patch.setattr(_LOOKS, "observation", mutant)


def a_lost_node_is_never_an_end(patch: Patch) -> None:
    def mutant(evidence: Any, now: Any) -> Observation:
        result = observation(evidence, now, timedelta(days=9999))
        return Observation(JobState.RUNNING) if evidence.pods and result.state.terminal else result

    patch.setattr(_LOOKS, "observation", mutant)


def what_is_given_up_goes_on(patch: Patch) -> None:
    async def mutant(self: Looks, own: Any, why: str) -> bool:
        return True

    patch.setattr(Looks, "_give_up", mutant)
    patch.setattr(shared.engines.kubernetes.translation.observations, "has_others", lambda *_: False)


def records_of_archived_jobs_stay(patch: Patch) -> None:
    async def mutant(self: Attempts, targets: Any) -> bool:
        return True

    patch.setattr(Attempts, "_clear", mutant)


def archived_jobs_stay(patch: Patch) -> None:
    async def mutant(self: Attempts, target: Target) -> None:
        return None

    patch.setattr(Attempts, "_delete", mutant)


def jobs_delete_themselves(patch: Patch) -> None:
    original = job

    def mutant(cluster: Any, order: Any, version: Any) -> Any:
        request = original(cluster, order, version)
        request.body["spec"]["ttlSecondsAfterFinished"] = 0
        return request

    patch.setattr(_ATTEMPTS, "job", mutant)


def deleted_when_the_end_is_seen(patch: Patch) -> None:
    async def mutant(self: Namespace, own: Any) -> None:
        await self.delete(own)

    patch.setattr(Namespace, "close_job", mutant)


def pods_outlive_their_job(patch: Patch) -> None:
    async def mutant(self: Namespace, own: Any) -> None:
        path = f"{self._jobs}/{own['metadata']['name']}"
        await self.client.call("DELETE", path, accept=("NotFound", "Conflict"))

    patch.setattr(Namespace, "delete", mutant)


def secrets_stay(patch: Patch) -> None:
    async def mutant(self: Namespace, name: str) -> None:
        return None

    patch.setattr(Namespace, "_remove_secrets", mutant)


def what_changed_is_not_looked_at(patch: Patch) -> None:
    async def mutant(self: BulkStatus, target: Target, lists: Any) -> Observation:
        return Observation(JobState.RUNNING)

    patch.setattr(BulkStatus, "_look_at", mutant)


#: The requests with faults.
_CALLS = 9
#: The faults that reveal most of the mutants come first.
_TELLING = (Wire.LOST, Wire.DELETING)
MUTANTS: tuple[Callable[[Patch], None], ...] = (
    a_taken_name_is_an_error,
    a_name_of_its_own_each_time,
    any_job_of_its_name_is_its_own,
    a_name_that_is_being_deleted_is_free,
    cancelled_by_deletion,
    cancelled_in_our_records_only,
    left_in_its_queue,
    given_up_by_its_queue_unseen,
    forgotten_before_its_end,
    secrets_are_not_made_again,
    a_lost_node_is_an_end_at_once,
    a_lost_node_is_never_an_end,
    what_is_given_up_goes_on,
    records_of_archived_jobs_stay,
    archived_jobs_stay,
    earlier_attempts_left_alone,
    jobs_delete_themselves,
    deleted_when_the_end_is_seen,
    pods_outlive_their_job,
    secrets_stay,
    what_changed_is_not_looked_at,
    what_has_no_proof_counts,
    keys_of_earlier_attempts_left_out,
    no_claim_on_the_nodes,
)


async def test_without_a_mutant_nothing_is_caught() -> None:
    assert await _caught(fenced=True, calls=size(_CALLS, 1)) == ""


@pytest.mark.parametrize("mutant", every_few(MUTANTS, 0), ids=lambda mutant: mutant.__name__)
async def test_the_harness_catches(mutant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mutant(monkeypatch)
    assert await _caught(fenced=mutant is not no_claim_on_the_nodes), "no schedule shows this mutant"


async def _caught(*, fenced: bool, calls: int = _CALLS) -> str:
    """The violations of the first schedule that has some."""
    one = STORIES[0]
    for story in (one, GANG, CANCELLED, ARCHIVED):
        if result := (await play(story, fenced=fenced)).deviations():
            return f"{story.name}: {result}"
    if result := (await play(PREEMPTED, fenced=fenced)).violations:
        return f"{PREEMPTED.name}: {result}"
    for behind in (0, 3, 40):
        if result := (await play(CANCELLED, behind=behind, fenced=fenced)).violations:
            return f"{CANCELLED.name}, Kueue is behind for {behind}: {result}"
    if result := (await play(GANG, loses=True, lives=40, fenced=fenced)).violations:
        return f"{GANG.name}, a node is lost: {result}"
    for lives in (0, 1, 40):
        if result := (await play(one, loses=True, lives=lives, fenced=fenced)).violations:
            return f"a node is lost, its processes live for {lives}: {result}"
    wires = (*_TELLING, *(one for one in Wire if one not in _TELLING))
    for wire, n in itertools.product(wires, range(1, calls + 1)):
        for story in (one, CANCELLED):
            if result := (await play(story, wire={n: wire}, fenced=fenced)).violations:
                return f"{story.name}, {wire} at {n}: {result}"
    return ""
