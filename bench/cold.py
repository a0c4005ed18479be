"""Cold start: processor time and modules of importing the app, against importing every SDK it may need.

`library` is azure.functions alone, below which no app gets; `use case` is what a message loads besides.
And the first message that a cold worker handles, which was there before it.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from datetime import datetime

from bench.job import SPEC
from bench.world import QUIET, ROOT, cpu, world

_EAGER = (
    "azure.functions, azure.storage.blob.aio, azure.storage.queue.aio, azure.data.tables.aio, "
    "azure.identity.aio, azure.mgmt.batchai.aio, aiohttp, cryptography.fernet, function_app"
)
_SHOW = "; import resource; u = resource.getrusage(0); print(u.ru_utime + u.ru_stime, len(sys.modules))"
_CASES = {
    "nothing": "import sys",
    "library": "import sys, azure.functions",
    "app": "import sys, function_app",
    "use case": "import sys, function_app, shared.wiring, shared.intake.arrive",
    "eager": f"import sys, {_EAGER}, shared.wiring, shared.intake.arrive",
}


def imports() -> dict[str, float]:
    """Milliseconds and modules above those of an empty interpreter, the median of five."""
    samples: dict[str, list[tuple[float, int]]] = {name: [] for name in _CASES}
    for _ in range(5):
        for name, code in _CASES.items():
            ran = subprocess.run(
                [sys.executable, "-c", code + _SHOW], cwd=ROOT, capture_output=True, text=True, check=True
            )
            seconds, modules = ran.stdout.split()
            samples[name].append((float(seconds) * 1000, int(modules)))
    empty = statistics.median(one[0] for one in samples["nothing"])
    shown: dict[str, float] = {}
    for name in list(_CASES)[1:]:
        shown[f"import {name} ms"] = statistics.median(one[0] for one in samples[name]) - empty
        shown[f"import {name} modules"] = samples[name][0][1] - samples["nothing"][0][1]
    return shown


async def first_message() -> dict[str, float]:
    """From the start of the host to the verified webhook of a message that waited for it."""
    settings = {name: value for name, value in QUIET.items() if name != "SLIPWAY_DEFAULT_NOTIFY"}
    async with world(noop=True, settings=settings, first=json.dumps({"spec": SPEC}).encode()) as stack:
        await stack.wait_for_webhooks(1)
        spent = cpu(stack.worker)
        arrival = datetime.fromisoformat(stack.arrivals()[0]["received"])
        return {
            "first message ms": (arrival.timestamp() - stack.host.create_time()) * 1000,
            "first message worker CPU ms": spent * 1000,
        }
