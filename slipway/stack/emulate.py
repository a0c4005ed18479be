"""`slipway emulate …`: runs an emulator without the rest of the stack, until Ctrl-C."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from local.azurebatch.settings import ACCOUNT, KEY
from local.process import ProcessError, child
from local.stop import stop_event
from slipway.failure import Failure
from slipway.terminal.screen import put, put_json

_FOLDER = Path(".local/azurebatch")
_PATIENCE = 10.0


def batch(
    port: int, data: Path | None, autoscale_seconds: float | None, containers: str, *, as_json: bool = False
) -> int:
    """Run the emulator of Azure Batch, and print the data for a client; returns 0.

    Raises Failure if it cannot start.
    """
    words = [f"--port={port}", f"--data={(data or _FOLDER).resolve()}", "--until-stdin-closes"]
    words.append(f"--containers={containers}")
    if autoscale_seconds is not None:
        words.append(f"--autoscale-seconds={autoscale_seconds:g}")
    return asyncio.run(_run(words, as_json))


async def _run(words: Sequence[str], as_json: bool) -> int:
    stop = stop_event(until_stdin_closes=False)
    command = [sys.executable, "-m", "local.azurebatch", *words]
    try:
        async with child(command, name="azurebatch", env=dict(os.environ)) as emulator:
            _announce((await emulator.line(r"^ready (http://\S+)"))[1], as_json)
            ends = [asyncio.ensure_future(emulator.wait()), asyncio.ensure_future(stop.wait())]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for one in ends:
                one.cancel()
            if not stop.is_set():
                lines = "".join(f"\n  | {line}" for line in emulator.recent)
                raise Failure(f"the emulator ended by itself; its last lines:{lines}")
    except ProcessError as error:
        raise Failure(str(error)) from None
    return 0


def _announce(url: str, as_json: bool) -> None:
    if as_json:
        put_json({"endpoint": url, "account": ACCOUNT, "key": KEY})
        return
    put(f"endpoint  {url}", f"account   {ACCOUNT}", f"key       {KEY}", "Ctrl-C ends it and its tasks.")
    sys.stdout.flush()
