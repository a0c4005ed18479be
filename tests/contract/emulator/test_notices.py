"""Ends are reported to a queue: the first at once, the others together; a missing queue does no harm."""

from __future__ import annotations

import base64
import json
import uuid
from datetime import UTC, datetime

import pytest
from azure.storage.queue.aio import QueueClient

from local.azurite import Azurite
from local.batchai.state.models import Job
from local.batchai.state.notices import TYPE, Notices, NoticeSettings

pytestmark = pytest.mark.asyncio(loop_scope="session")


def _job(name: str, variable: str = "SLIPWAY_JOB_ID") -> Job:
    document = {"nodeCount": 1, "environmentVariables": [{"name": variable, "value": name}]}
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Job(
        id=f"/subscriptions/s/{name}",
        sequence=1,
        created=now,
        document=document,
        cluster="c",
        instance="i",
        wall_clock=1,
        since=now,
    )


async def test_the_ends_of_jobs_are_reported_by_their_variable(storage: Azurite) -> None:
    name = f"q{uuid.uuid4().hex[:12]}"
    async with QueueClient.from_connection_string(storage.connection_string, name) as queue:
        await queue.create_queue()
        notices = Notices(_settings(storage, name))
        for number in range(600):
            notices.job_ended(_job(f"j_{number}"))
        notices.job_ended(_job("unknown", "OTHER"))
        await notices.close()

        document = [
            json.loads(base64.b64decode(message.content)) async for message in queue.receive_messages()
        ]

    assert {event["type"] for event in document} == {TYPE}
    reports = [job for event in document for job in event["data"]["jobs"]]
    assert sorted(reports) == sorted(f"j_{number}" for number in range(600))
    assert len(document) == 2


async def test_a_queue_that_is_missing_is_a_warning(
    storage: Azurite, caplog: pytest.LogCaptureFixture
) -> None:
    notices = Notices(_settings(storage, "nowhere"))
    notices.job_ended(_job("j_1"))
    await notices.close()
    assert "1 ends are not reported" in caplog.text


def _settings(storage: Azurite, queue: str) -> NoticeSettings:
    return NoticeSettings(queue=queue, variable="SLIPWAY_JOB_ID", connection_string=storage.connection_string)
