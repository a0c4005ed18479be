"""The demo's four jobs on two engines: the same receipts and events, compared member by member."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from azure.storage.blob.aio import BlobClient
from azure.storage.queue.aio import QueueClient

from local.stack import Stack
from slipway.client.jobs.watch import Watch
from slipway.client.service import service
from slipway.stack.demo import PLAN, options_of, work
from slipway.stack.running import running, while_it_runs
from slipway.terminal.screen import screen

#: What may be another at each run, by place, and why.
VARIES = {
    r".*At": "a time",
    r"event/time": "a time",
    r"event/id": "follows from the job's id",
    r"receipt/(waitedSeconds|ranSeconds|nodeHours)": "how long it took",
    r"receipt/usage/.*": "how long it took, and what is known of the nodes",
    r"receipt/notify/\d+/url": "the receiver's port is any free one",
    r"receipt/drop/files/\d+/etag": "of an upload of its own",
    r"receipt/engine/id": "what each engine calls a job",
    r"receipt/outputs/\d+/path": "each engine has its own folder of a run",
    r"event/data/(sequence|previousState)": "no pass need see a job run",
}
_VERSIONS = "receipt/versions/engine"


#: Inspects a stack whose demo is over.
Inspection = Callable[[Stack], Awaitable[None]]


async def _at_nothing(stack: Stack) -> None:
    """Where a stack has nothing of its own to look at."""


async def compared(
    folder: Path, cluster: str, engine: str, version: str, inspect: Inspection = _at_nothing
) -> None:
    """The demo on the usual cluster and on that one, whose engine and its version begin so."""
    ours = await _played("emulator", folder / "emulator", _at_nothing)
    theirs = await _played(cluster, folder / cluster, inspect)

    assert sorted(ours) == sorted(theirs) == ["digits", "digits-one-node", "digits-seed-11", "mistakes"]
    for name, left in ours.items():
        right = theirs[name]
        versions = (left.pop(_VERSIONS, ""), right.pop(_VERSIONS, ""))
        ran = name != "mistakes"
        expected = {"receipt/engine/engine": ("batchai", engine)} if ran else {}
        members = {at: (left.get(at), right.get(at)) for at in left.keys() | right.keys()}
        differing = {at: both for at, both in members.items() if both[0] != both[1]}
        assert differing == expected, f"{name}: {differing}"
        assert not ran or [words.split()[0] for words in versions] == ["Batch", version]


async def _played(cluster: str, data: Path, inspect: Inspection) -> dict[str, dict[str, Any]]:
    """What the demo leaves on one engine, as the leaves of the documents by name of the job."""
    options = options_of(data, cluster)
    every = {"SLIPWAY_NOTICES": "true", "SLIPWAY_RECEIPTS": "all"}
    options = replace(options, overrides={**options.overrides, **every})
    out = screen(lambda: 0.0)
    async with running(options, PLAN, lambda _: None) as stack, service(stack.host_url) as api:
        await while_it_runs(stack, work(out, stack, api, Watch(api, out.say)))
        events = await _events(stack)
        await inspect(stack)
        return {
            job["name"]: _leaves(job["id"], await _receipt(stack, job["receipt"]), events[job["id"]])
            for job in (await api.jobs()).jobs
        }


async def _receipt(stack: Stack, place: str) -> Any:
    container, _, name = place.partition("/")
    async with BlobClient.from_connection_string(stack.settings["SLIPWAY_STORAGE"], container, name) as blob:
        return json.loads(await (await blob.download_blob()).readall())


async def _events(stack: Stack) -> dict[str, Any]:
    """The last event of each job, as anyone who pulls it gets it: the same bytes as the webhook."""
    goldens: dict[str, Any] = {}
    async with QueueClient.from_connection_string(stack.settings["SLIPWAY_STORAGE"], "job-notices") as queue:
        async for message in queue.receive_messages(max_messages=32):
            event = json.loads(b64decode(message.content))
            job = event["subject"].partition("/")[2]
            if job not in goldens or event["data"]["sequence"] > goldens[job]["data"]["sequence"]:
                goldens[job] = event
    return goldens


def _leaves(job: str, receipt: Any, event: Any) -> dict[str, Any]:
    """Place → value, without what varies; the job's id, which names are made of, is masked."""
    # A pass need not see a job run, nor what it waits for.
    steps = [step["state"] for step in receipt["history"] if step["state"] != "running"]
    receipt["history"] = [state for state, _ in groupby(steps)]
    text = json.dumps({"receipt": receipt, "event": event})
    for part in (job, job[2:18], job[2:10]):
        text = text.replace(part, "<id>")
    varies = re.compile("|".join(f"(?:{place})" for place in VARIES))
    return {at: value for at, value in _walk(json.loads(text), "") if not varies.fullmatch(at)}


def _walk(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            yield from _walk(inner, f"{at}/{key}" if at else str(key))
    else:
        yield at, value
