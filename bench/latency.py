"""Latency of an idle system, one job at a time, at the host's shortest poll: p50 and p99 in milliseconds.

message → submitted → webhook, and drop → submitted, with an engine that has nothing to do; end of job →
webhook through the emulator, from the job's last breath on. Before each of them four bare round trips go to
another storage, which has no other user: the divisor of the ratios.
"""

from __future__ import annotations

import asyncio
import json
import math
import shlex
import tempfile
import time
from pathlib import Path

from bench.floor import FourTrips
from bench.job import SPEC, message
from bench.rest import Raw
from bench.world import QUIET, World, disk, world
from local.azurite import azurite

#: How often the host asks an empty queue, in seconds: its listener's back-off would be most of the latency.
POLL = 0.005
_WARM = 5
#: Seconds between two jobs: the emulator gathers the ends of a fifth of a second for its next message.
_APART, _APART_ENDS = 0.02, 0.3
#: No settle time, of which a drop would wait longest; the rest of its latency is a figure of its own.
_SETTINGS = {**QUIET, "SLIPWAY_SETTLE_SECONDS": "0"}


async def idle(number: int) -> dict[str, float]:
    """Everything; `number` messages, and as many drops and ends as take the same time."""
    with tempfile.TemporaryDirectory(prefix="slipway-bench-", dir=disk()) as folder:
        async with (
            azurite(Path(folder), on_request=lambda _: None) as bare,
            Raw(bare.connection_string) as raw,
        ):
            four = FourTrips(raw)
            await four.make()
            async with world(noop=True, poll=POLL, settings=_SETTINGS) as stack:
                figures = await _messages(stack, four, number)
                figures |= await _drops(stack, four, math.ceil(number / 8))
            async with world(noop=False, poll=POLL) as stack:
                figures |= await _ends(stack, four, math.ceil(number / 4))
            return figures | percentiles("four round trips", four.seconds[_WARM:])


async def _messages(stack: World, four: FourTrips, number: int) -> dict[str, float]:
    body = message(f"{stack.running.receiver_url}/hooks/bench")
    submitted, delivered = [], []
    async with Raw(stack.storage) as client:
        for at in range(1, number + _WARM + 1):
            await four.go()
            start = time.time()
            await client.put("jobs", body)
            await stack.wait_for_webhooks(at)
            delivered.append(time.time() - start)
            submitted.append(await stack.submitted(at) - start)
            await asyncio.sleep(_APART)
    return percentiles("message to submitted", submitted[_WARM:]) | percentiles(
        "message to webhook", delivered[_WARM:]
    )


async def _drops(stack: World, four: FourTrips, number: int) -> dict[str, float]:
    """With the event that Event Grid sends. Last-Modified has whole seconds, so a drop waits for the next."""
    from azure.storage.blob.aio import BlobServiceClient

    before = len(stack.submissions())
    whole, after = [], []
    async with Raw(stack.storage) as client, BlobServiceClient.from_connection_string(stack.storage) as blobs:
        for at in range(1, number + 1):
            await four.go()
            name, start = f"idle-{at}/job.json", time.time()
            written = await blobs.get_blob_client("scripts", name).upload_blob(json.dumps(SPEC))
            await client.put("jobs", _created(name))
            submitted = await stack.submitted(before + at)
            whole.append(submitted - start)
            after.append(submitted - written["last_modified"].timestamp() - 1)
    return percentiles("drop to submitted", whole) | percentiles(
        "drop to submitted, without its settle time", after
    )


async def _ends(stack: World, four: FourTrips, number: int) -> dict[str, float]:
    ended = stack.running.deliveries.with_name("ended")
    hook = f"{stack.running.receiver_url}/hooks/bench"
    body = message(hook, f"date +%s.%N > {shlex.quote(str(ended))}")
    latencies = []
    async with Raw(stack.storage) as client:
        for at in range(1, number + _WARM + 1):
            await four.go()
            await client.put("jobs", body)
            await stack.wait_for_webhooks(at)
            latencies.append(time.time() - float(ended.read_text()))
            await asyncio.sleep(_APART_ENDS)
    return percentiles("end of job to webhook", latencies[_WARM:])


def _created(name: str) -> bytes:
    subject = f"/blobServices/default/containers/scripts/blobs/{name}"
    event = {"specversion": "1.0", "id": name, "source": "/bench", "subject": subject, "data": {}}
    return json.dumps({**event, "type": "Microsoft.Storage.BlobCreated"}).encode()


def percentiles(name: str, seconds: list[float]) -> dict[str, float]:
    """Median and 99th percentile (nearest rank), in milliseconds."""
    ordered = sorted(seconds)
    return {
        f"{name} p{percent} ms": ordered[math.ceil(len(ordered) * percent / 100) - 1] * 1000
        for percent in (50, 99)
    }
