"""What a person gave us to keep secret is seen by the cluster and the receiver, and by no one else."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from shared.core.errors import SlipwayError
from shared.core.job import JobState
from shared.intake.arrive import message_arrived
from shared.intake.desk.prepare import prepare
from shared.intake.message import read_request
from shared.intake.request_door import request_explained
from shared.jobspec.report import as_json
from tests.canary import CANARY, NUMBER, documents, envelopes, texts
from tests.unit.jobspec.jobs import CLUSTER as ANOTHER
from tests.unit.world import CLUSTER, World, job_json

BODIES: dict[str, bytes] = {
    **{f"job.json: {what}": json.dumps(document).encode() for what, document in documents()},
    **{f"envelope: {what}": json.dumps(envelope).encode() for what, envelope in envelopes(job_json())},
    **{f"text: {what}": body for what, body in texts()},
}
VALID = [what for what in BODIES if what.startswith("job.json: ")][:9]


def _body(what: str) -> bytes:
    return BODIES[what].replace(ANOTHER.encode(), CLUSTER.id.encode())


def _texts(world: World, *more: Any) -> str:
    events = [body for _, _, body in world.webhooks.posts]
    return f"{world.ledger.rows}{world.drops.receipt_files}{world.queues.messages}{events}{more}"


@pytest.mark.parametrize("what", BODIES)
async def test_a_canary_is_seen_nowhere(what: str, world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    world.use(account_keys={"acct": "storage-key", "account": "storage-key"})
    world.policy(default_notify=({"url": "https://hooks.example.com"},), notices=True)

    accepted = await message_arrived(world.ports, _body(what), "m1")
    await world.wake()
    for name in world.engine.started:
        world.engine.set_state(name, JobState.FAILED)
    await world.make_pass()
    await world.wake()

    observation = _texts(world, [a.job for a in accepted], [a.notes for a in accepted])
    for text in (observation, caplog.text):
        assert CANARY not in text
        assert str(NUMBER) not in text
    assert world.ledger.rows or what.endswith("a blob's arrival")
    if what in VALID:
        assert CANARY in str(world.engine.orders[0].document)


@pytest.mark.parametrize("what", BODIES)
async def test_a_canary_is_in_no_answer(what: str, world: World) -> None:
    request = read_request(_body(what), world.ports.policy.limits)
    prepared = prepare(world.ports, request, key="k")
    reports = [as_json(prepared.problems, valid=prepared.valid, notes=prepared.notes)]
    try:
        reports.append(await request_explained(world.ports, request, source="http:", key="k"))
    except SlipwayError as error:
        reports.append({"error": str(error)})

    assert CANARY not in str(reports)
    assert str(NUMBER) not in str(reports)
