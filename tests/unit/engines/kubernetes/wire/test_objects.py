"""Objects made once, also where answers are lost."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.errors import Busy, Conflict, EngineError, Misconfigured, Transient
from shared.engines.kubernetes.wire.objects import TOKEN, make, refuse_dropped
from tests.unit.engines.kubernetes.server import Reply, in_turn, server, status

JOBS = "/apis/batch/v1/namespaces/default/jobs"
ALREADY_EXISTS = status(409, "AlreadyExists", 'jobs.batch "a" already exists')


def job(token: str = "t", **metadata: Any) -> Any:
    spec = {"completionMode": "Indexed", "parallelism": 1}
    return {"metadata": {"name": "a", "uid": "u", "annotations": {TOKEN: token}, **metadata}, "spec": spec}


async def test_a_new_object_is_sent_strictly() -> None:
    async with server(in_turn((201, job()))) as running:
        client = running.client()
        creation = await make(client, JOBS, job())
        await client.close()

    assert creation.is_new
    assert creation.object == job()
    assert running.requests[0].query == {"fieldValidation": "Strict"}
    refuse_dropped(creation, "a")


async def test_the_same_token_is_success_also_after_it_was_cancelled() -> None:
    cancelled = job()
    cancelled["spec"]["parallelism"] = 0
    async with server(in_turn(ALREADY_EXISTS, (200, cancelled))) as running:
        client = running.client()
        creation = await make(client, JOBS, job())
        await client.close()

    assert not creation.is_new
    assert running.calls == [f"POST {JOBS}", f"GET {JOBS}/a"]
    refuse_dropped(creation, "a")


@pytest.mark.parametrize(
    ("replies", "kind"),
    [
        ([ALREADY_EXISTS, (200, job("other"))], Conflict),
        ([ALREADY_EXISTS, (200, job(deletionTimestamp="2026-11-22T02:46:09Z"))], Busy),
        ([ALREADY_EXISTS, status(404, "NotFound")], Busy),
        (
            [status(409, "AlreadyExists", "object is being deleted: a"), (200, job(deletionTimestamp="x"))],
            Busy,
        ),
        ([None], Transient),
        ([ALREADY_EXISTS, None], Transient),
        ([status(500, "InternalError", 'failed calling webhook "mjob.kb.io"')], Transient),
    ],
)
async def test_a_name_that_cannot_be_had_says_why(replies: list[Reply], kind: type[EngineError]) -> None:
    async with server(in_turn(*replies)) as running:
        client = running.client()
        with pytest.raises(kind) as caught:
            await make(client, JOBS, job())
        await client.close()

    assert type(caught.value) is kind


async def test_an_acknowledged_object_without_its_fields_is_ours_to_mend() -> None:
    answered = job()
    del answered["spec"]["completionMode"]
    for replies in ([(201, answered)], [ALREADY_EXISTS, (200, answered)]):
        async with server(in_turn(*replies)) as running:
            client = running.client()
            creation = await make(client, JOBS, job())
            await client.close()

        with pytest.raises(Misconfigured, match=r"did not keep spec\.completionMode of a"):
            refuse_dropped(creation, "a")
