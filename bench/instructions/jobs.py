"""The program that is counted: `python -m bench.instructions.jobs JOBS` runs jobs in the app's own function.

They come by the queue, end the moment they are submitted, and report that to one webhook. Prints as JSON what
each of them asked of storage, and its calls of Python functions. With `--fork` a child runs the jobs: what it
executes more than its parent is theirs, and starting the app is not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import logging
import os
import sys
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from azure.functions import QueueMessage

from bench.clusters.noop import Noop, NoopEngines
from bench.instructions.answers import answer_in_process
from bench.job import message
from functions import process
from functions.accept import accept_message

#: Jobs before the first that counts: by then everything is loaded.
_WARM = 32
#: Messages that a worker has in hand at once.
_AT_ONCE = 16
_HOOK = "http://127.0.0.1:9999/hooks/bench"
_KEY = base64.b64encode(bytes(32)).decode()
_SETTINGS = {
    "SLIPWAY_STORAGE": (
        "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=" + _KEY + ";"
        "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;"
        "QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;"
        "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"
    ),
    "SLIPWAY_BATCHAI_URL": "http://127.0.0.1:7080",
    "SLIPWAY_SOURCE": "urn:slipway:bench",
    "SLIPWAY_RECEIPTS": "drops",
    "SLIPWAY_SEAL_KEY": _KEY,
    "SLIPWAY_WEBHOOK_LOOPBACK": "true",
    "SLIPWAY_WEBHOOK_PORTS": "443,9999",
    "SLIPWAY_WEBHOOK_SECRETS": json.dumps({"default": "whsec_" + _KEY}),
}


class _Calls:
    """Counts calls of Python functions, resumptions of coroutines among them."""

    def __init__(self) -> None:
        self.number = 0

    def see(self, frame: FrameType, event: str, _: Any) -> None:
        """What `sys.setprofile` wants."""
        self.number += event == "call"


class _Worker:
    """The app in this process, with an engine that has nothing to do."""

    def __init__(self) -> None:
        self.counted = answer_in_process()
        self._loop = asyncio.new_event_loop()
        self._next = 0
        ports = process.ports()
        process._ports = replace(ports, engines=NoopEngines(ports.engines.clusters, Noop()))
        self._function = accept_message._function.get_user_function()

    def run(self, jobs: int) -> None:
        """Run that many jobs, until their webhooks have come."""
        end = self._next + jobs
        while self._next < end:
            self._loop.run_until_complete(self._some(min(end - self._next, _AT_ONCE)))
        assert self.counted.events == end, f"{self.counted.events} of {end} jobs have ended"

    async def _some(self, number: int) -> None:
        first, self._next = self._next, self._next + number
        await asyncio.gather(*(self._function(_message(n)) for n in range(first, self._next)))


def _message(number: int) -> QueueMessage:
    return QueueMessage(id=f"message-{number:06d}", body=message(_HOOK))


def _counts(worker: _Worker, jobs: int) -> dict[str, float]:
    """What each of these jobs asks of storage, and how many calls it makes."""
    before, calls = replace(worker.counted), _Calls()
    sys.setprofile(calls.see)
    worker.run(jobs)
    sys.setprofile(None)
    after = worker.counted
    return {
        "requests": (after.requests - before.requests) / jobs,
        "rows": (after.rows - before.rows) / jobs,
        "bytes": (after.size - before.size) / jobs,
        "calls": calls.number / jobs,
    }


def main(arguments: list[str] | None = None) -> None:
    """Run the jobs in a process that has no other settings."""
    parser = argparse.ArgumentParser(prog="python -m bench.instructions.jobs", description=__doc__)
    parser.add_argument("jobs", type=int)
    parser.add_argument(
        "--fork", action="store_true", help="run them in a child, for a count of instructions"
    )
    options = parser.parse_args(arguments)
    for name in [
        name for name in os.environ if name.startswith(("SLIPWAY_", "AZURE_", "APPLICATIONINSIGHTS"))
    ]:
        del os.environ[name]
    os.environ |= _SETTINGS
    logging.basicConfig(stream=Path(os.devnull).open("w"), level=logging.INFO)  # noqa: SIM115 - until it ends
    worker = _Worker()
    worker.run(_WARM)
    if not options.fork:
        sys.stdout.write(json.dumps(_counts(worker, options.jobs)) + "\n")
    elif (child := os.fork()) == 0:
        worker.run(options.jobs)
    else:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main()
