"""A message that the host gave up, from its poison queue back through its door."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.door import Door, eventually, shell, unique

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_poison_message_is_kept_listed_and_redriven(door: Door) -> None:
    name = unique("poison")
    await door.send({"name": name, "spec": shell("true")}, queue="jobs-poison")

    async def is_there() -> dict[str, Any] | None:
        _, body, _ = await door.call("GET", "dead")
        return next((one for one in body["dead"] if one["kind"] == "message"), None)

    dead = await eventually(is_there, "the message to be kept")
    assert "gave it up" in dead["reason"]
    assert await door.jobs(name=name) == []

    status, body, _ = await door.call("POST", f"dead/{dead['id']}/redrive")

    assert (status, body["kind"]) == (202, "message")
    assert (await door.ended(name=name))["state"] == "succeeded"
    assert (await door.call("POST", f"dead/{dead['id']}/redrive"))[0] == 404


async def test_a_blob_that_the_host_gave_up_is_looked_at_again_and_nothing_is_dead(door: Door) -> None:
    folder = unique("poison-drop")
    queue = door.queues.get_queue_client("webjobs-blobtrigger-poison")
    message = {"Type": "BlobTrigger", "ContainerName": "scripts", "BlobName": f"{folder}/job.json"}
    await door.send(message, queue=queue.queue_name)

    async def served() -> bool:
        return (await queue.get_queue_properties()).approximate_message_count == 0

    await eventually(served, "the copy to be served")
    _, body, _ = await door.call("GET", "dead")
    assert [one for one in body["dead"] if one["kind"] == "message"] == []
