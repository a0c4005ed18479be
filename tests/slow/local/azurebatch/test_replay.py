"""What the service answered in September 2022 the emulator answers, member by member.

The recordings are not ours and not committed: BATCH_RECORDINGS names their folder, else one that lies beside
the checkout is taken. What the emulator does otherwise stands in `DIFFERENT`, with the reason.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from azure.batch import BatchClient
from azure.core.exceptions import HttpResponseError
from azure.core.rest import HttpRequest

from tests.slow.local.azurebatch.world import Emulator

_USUAL = Path(__file__).parents[5] / "shared" / "recordings" / "azure-batch"
FOLDER = Path(os.environ.get("BATCH_RECORDINGS", _USUAL))
FILE = FOLDER / "batch-cli-ext" / "tests" / "recordings" / "test_batch_extensions_live.yaml"
#: Members that only one of the two has.
DIFFERENT = {
    "endpointConfiguration": "nodes here have no public address",
    "exactVersion": "nodes here are of no image",
    "lastBootTime": "a node is listed here when it has booted, or before",
    "outputFiles": "not done here: the request is sent without it",
    "startTaskInfo": "a start task that brings files of the internet is not sent",
    "startTask": "〃",
    "capabilities": "of images, which are those of another year",
    "batchSupportEndOfLife": "〃",
    "certificateReferences": "certificates are gone from the service since",
    "recentTasks": "nodes here count their tasks, and keep no list of them",
}
#: Jobs whose tasks are not replayed, and why.
NOT_REPLAYED = {
    "windows": "there is no cmd.exe on the nodes",
    "job123": "its pool is made for it (autoPoolSpecification), which is not done here",
    "helloworld-job3": "its pool is made for it (autoPoolSpecification), which is not done here",
}
_PATIENCE = 120.0


@dataclass(frozen=True)
class Exchange:
    """A request as it was sent, and the answer of the service."""

    method: str
    path: str
    body: Any
    status: int
    answer: Any


def exchanges() -> Iterator[Exchange]:
    """Those with Batch, in their order; polls that got the same answer as before are left out."""
    before = None
    for one in json.loads(FILE.read_text())["interactions"]:
        request, response = one["request"], one["response"]
        url = urlsplit(request["uri"])
        if not url.netloc.endswith(".batch.azure.com") or any(name in url.path for name in NOT_REPLAYED):
            continue
        body = json.loads(request["body"]) if isinstance(request["body"], str) else None
        text = response["body"].get("string") or ""
        answer = json.loads(text) if text else None
        if body and any(name in str(body.get("id")) for name in NOT_REPLAYED):
            continue
        current = Exchange(
            request["method"], f"{url.path}?{url.query}", body, response["status"]["code"], answer
        )
        kind = (current.method, current.path, states(answer))
        if kind != before or current.method != "GET":
            yield current
        before = kind


def states(answer: Any) -> Any:
    """What an answer says of states, without the times."""
    if isinstance(answer, Mapping):
        named = {name: states(value) for name, value in answer.items() if name in ("value", "error")}
        own = {name: answer[name] for name in ("state", "allocationState") if name in answer}
        return json.dumps({**named, **own}, sort_keys=True)
    return [states(one) for one in answer] if isinstance(answer, list) else None


def shape(value: Any, at: str = "") -> set[str]:
    """The places of all members of a document."""
    if isinstance(value, Mapping):
        return {
            place for name, one in value.items() for place in {f"{at}/{name}", *shape(one, f"{at}/{name}")}
        }
    return (
        {place for one in value[:1] for place in shape(one, f"{at}[]")} if isinstance(value, list) else set()
    )


def without_differences(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: without_differences(one) for name, one in value.items() if name not in DIFFERENT}
    return [without_differences(one) for one in value] if isinstance(value, list) else value


def ask(client: BatchClient, exchange: Exchange) -> tuple[int, Any]:
    """The emulator's answer to the same request."""
    body = without_differences(exchange.body)
    try:
        answer = client.send_request(HttpRequest(exchange.method, exchange.path, json=body))
    except HttpResponseError as error:
        if error.response is None:
            raise
        return int(error.response.status_code or 0), json.loads(error.response.text())
    return answer.status_code, json.loads(answer.text()) if answer.text() else None


def differences(exchange: Exchange, status: int, answer: Any) -> list[str]:
    where = f"{exchange.method} {exchange.path}"
    if status != exchange.status:
        return [f"{where}: {status}, not {exchange.status}: {answer}"]
    theirs, ours = (shape(without_differences(one)) for one in (exchange.answer, answer))
    problems = [f"{where}: no {place}" for place in theirs - ours]
    problems += [f"{where}: has {place}" for place in ours - theirs]
    if states(exchange.answer) != states(answer) and "supportedimages" not in where:
        problems.append(f"{where}: {states(answer)}, not {states(exchange.answer)}")
    return problems


def settled(client: BatchClient, exchange: Exchange) -> list[str]:
    """What is different after a while: the service was polled until something had happened."""
    end = time.monotonic() + (_PATIENCE if exchange.method == "GET" else 0)
    while True:
        problems = differences(exchange, *ask(client, exchange))
        if not problems or time.monotonic() > end:
            return problems
        time.sleep(0.05)


def passing(exchange: Exchange) -> bool:
    """Whether it shows a state that passes here before anyone can look: only its end is waited for."""
    shown = json.dumps(states(exchange.answer))
    waits = "/tasks" in exchange.path and "active" in shown
    return waits or bool(re.search(r"creating|starting|resizing|running|deleting", shown))


def test_recorded_exchanges_have_the_same_answers(running: Emulator) -> None:
    if not FILE.is_file():
        pytest.skip(f"{FILE.name} is not there: set BATCH_RECORDINGS to the folder of the recordings")
    played = [exchange for exchange in exchanges() if not passing(exchange)]

    with running.client(api_version="2022-01-01.15.0") as client:
        problems = [problem for exchange in played for problem in settled(client, exchange)]

    assert sorted(problems) == []
    assert len(played) >= 20
