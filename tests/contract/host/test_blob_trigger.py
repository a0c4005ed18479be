"""Blob triggers by container scan and by events; the same through both runtimes."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from local.azurite import azurite
from tests.contract.host.world import (
    ANY_RUNTIME,
    Host,
    Storage,
    environment_of,
    eventually,
    running,
    storage_of,
)

_NOTIFICATION = {"aeg-event-type": "Notification"}

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_new_blob_runs_the_function_and_its_path_fills_the_output(host: Host) -> None:
    await host.storage.upload("drop", "a/b/one.txt", "hello")

    assert await host.storage.take("done", lambda t: "one.txt" in t) == ["drop/a/b/one.txt:5:hello"]

    async def copied() -> bool:
        return await host.storage.read("copies", "a/b/one.upper") == "HELLO"

    await eventually(copied, lambda: "copies/a/b/one.upper")


async def test_a_blob_that_does_not_match_the_pattern_runs_nothing(host: Host) -> None:
    await host.storage.upload("drop", "x/other.py", "no")
    await host.storage.upload("drop", "x/match.txt", "yes")

    await host.storage.take("done", lambda t: "match.txt" in t)

    assert not [t for t in await host.storage.peek("done") if "other.py" in t]


async def test_each_version_of_a_blob_runs_the_function_once(host: Host) -> None:
    await host.storage.upload("drop", "v/twice.txt", "first")
    await host.storage.take("done", lambda t: "twice.txt" in t and "first" in t)

    await host.storage.upload("drop", "v/twice.txt", "second")
    await host.storage.take("done", lambda t: "twice.txt" in t and "second" in t)

    await host.storage.upload("drop", "v/marker.txt", "end")  # a later scan than any that could repeat one
    await host.storage.take("done", lambda t: "marker.txt" in t)
    assert not [t for t in await host.storage.peek("done") if "twice.txt" in t]


async def test_a_blob_whose_function_fails_ends_in_the_poison_queue(host: Host) -> None:
    await host.storage.upload("drop", "f/bad.txt", "fail")

    [text] = await host.storage.take(
        "webjobs-blobtrigger-poison", lambda t: b"bad.txt" in base64.b64decode(t)
    )

    message = json.loads(base64.b64decode(text))
    assert message["FunctionId"] == "Host.Functions.dropped"
    assert (message["ContainerName"], message["BlobName"]) == ("drop", "f/bad.txt")
    assert message["ETag"]


FAILING = """
import azure.functions as func

app = func.FunctionApp()


@app.blob_trigger(arg_name="blob", path="drop/{name}", connection="ELSEWHERE")
def failing(blob: func.InputStream) -> None:
    raise ValueError("asked to fail")


@app.queue_trigger(arg_name="message", queue_name="webjobs-blobtrigger-poison", connection="ELSEWHERE")
@app.queue_output(arg_name="$return", queue_name="buried", connection="AzureWebJobsStorage")
def bury(message: func.QueueMessage) -> str:
    return message.get_body().decode()
"""


async def test_the_poison_queue_of_a_blob_trigger_is_in_the_account_of_the_blob(
    storage: Storage, tmp_path: Path
) -> None:
    (tmp_path / "function_app.py").write_text(FAILING)
    extensions = {"blobs": {"poisonBlobThreshold": 1}, "queues": {"messageEncoding": "none"}}
    (tmp_path / "host.json").write_text(json.dumps({"version": "2.0", "extensions": extensions}))
    async with azurite() as account, storage_of(account) as elsewhere:
        environment = environment_of(storage, ELSEWHERE=account.connection_string)
        async with running(ANY_RUNTIME, storage, app=tmp_path, environment=environment):
            await elsewhere.upload("drop", "two-accounts.txt", "x")

            [text] = await storage.take("buried", lambda one: b"two-accounts.txt" in base64.b64decode(one))

    assert json.loads(base64.b64decode(text))["BlobName"] == "two-accounts.txt"
    poisons = map(base64.b64decode, await storage.peek("webjobs-blobtrigger-poison"))
    assert not [one for one in poisons if b"two-accounts" in one]


async def test_a_blob_whose_function_fails_is_tried_again_at_once_and_not_as_queues_are(
    storage: Storage, tmp_path: Path
) -> None:
    (tmp_path / "function_app.py").write_text(FAILING)
    extensions = {
        "blobs": {"poisonBlobThreshold": 3},
        "queues": {"messageEncoding": "none", "visibilityTimeout": "01:00:00"},
    }
    (tmp_path / "host.json").write_text(json.dumps({"version": "2.0", "extensions": extensions}))
    environment = environment_of(storage, ELSEWHERE=storage.azurite.connection_string)
    async with running(ANY_RUNTIME, storage, app=tmp_path, environment=environment) as host:
        await storage.upload("drop", "at-once.txt", "x")

        await storage.take("buried", lambda one: b"at-once.txt" in base64.b64decode(one))
        await host.process.line(r"moves to the queue webjobs-blobtrigger-poison: it failed 3 times")


async def test_an_event_that_is_posted_runs_the_function_and_no_scan_does(host: Host) -> None:
    await host.storage.upload("events", "posted.txt", "x")
    await host.storage.upload("drop", "e/scanned.txt", "x")
    await host.storage.take("done", lambda t: "scanned.txt" in t)
    assert not [t for t in await host.storage.peek("done") if "posted.txt" in t]
    url = f"{host.storage.azurite.blob_url}/events/posted.txt"
    event = {"eventType": "Microsoft.Storage.BlobCreated", "data": {"url": url}}

    assert await _post(host, [event]) == (202, "")

    assert await host.storage.take("done", lambda t: "posted.txt" in t) == ["event:events/posted.txt"]


async def test_event_grid_s_validation_is_answered(host: Host) -> None:
    event = {"eventType": "Microsoft.EventGrid.SubscriptionValidationEvent", "data": {"validationCode": "42"}}

    status, body = await _post(host, [event])

    assert (status, json.loads(body)) == (200, {"validationResponse": "42"})


async def test_events_that_are_none_are_an_error(host: Host) -> None:
    assert await _post(host, ["text"]) == (500, "")
    assert await _post(host, [{"eventType": "x"}], function="Host.Functions.unknown") == (500, "")


async def test_a_delivery_without_event_grids_header_or_the_whole_name_is_refused(host: Host) -> None:
    event = {"eventType": "Microsoft.Storage.BlobCreated", "data": {}}

    assert (await _post(host, [event], kind={}))[0] == 400
    assert (await _post(host, [event], function="announced"))[0] == 500


async def test_the_handshake_of_cloud_events_is_answered(host: Host) -> None:
    origin = {"WebHook-Request-Origin": "eventgrid.azure.net"}
    async with host.http.options(f"{host.url}/runtime/webhooks/blobs", headers=origin) as response:
        assert response.status == 200
        assert response.headers["WebHook-Allowed-Origin"] == "eventgrid.azure.net"


async def test_a_host_that_starts_again_runs_nothing_twice(host: Host) -> None:
    storage = host.storage
    await storage.upload("drop", "r/old.txt", "old")
    await storage.take("done", lambda t: "old.txt" in t)

    async with running(host.runtime, storage):
        await storage.upload("drop", "r/new.txt", "new")
        await storage.take("done", lambda t: "new.txt" in t)

    assert not [t for t in await storage.peek("done") if "old.txt" in t]


async def _post(
    host: Host,
    events: list[Any],
    function: str = "Host.Functions.announced",
    kind: Mapping[str, str] = _NOTIFICATION,
) -> tuple[int, str]:
    address = f"{host.url}/runtime/webhooks/blobs?functionName={function}"
    async with host.http.post(address, json=events, headers=kind) as response:
        return response.status, await response.text()
