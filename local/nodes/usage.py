"""usage.jsonl: how busy the machines of a job are, a line for each of them now and then.

It is in a directory of its own, for a job that asks for it. All nodes are this machine, so only their GPUs
distinguish them.
"""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from confined import Confined
from local.nodes import gpus
from local.nodes.machine import Machine

FILE = "usage.jsonl"
#: Seconds between two samples, and after how many of them that doubles, so that the file stays small.
EVERY, _MANY = 15.0, 1000


@asynccontextmanager
async def sampled(directory: Path | None, machines: Sequence[Machine]) -> AsyncIterator[None]:
    """While the block runs, add samples to the file in a folder (its real path), if there is one.

    No error fails the job.
    """
    if directory is None:
        yield
        return
    task = asyncio.create_task(_sample(directory, machines), name="usage")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _sample(directory: Path, machines: Sequence[Machine]) -> None:
    before, every, count = (0, 0), EVERY, 0
    while (now := _processors()) is not None:
        own = {"time": int(time.time())} | _processor_use(before, now) | _memory()
        in_use = await gpus.use() if any(machine.gpus for machine in machines) else {}
        lines = [
            json.dumps({"rank": rank} | own | _of_machine(machine, in_use))
            for rank, machine in enumerate(machines)
        ]
        with suppress(OSError):  # a full disk may have room later
            _append(directory, "".join(f"{line}\n" for line in lines))
        before, count = now, count + 1
        every = 2 * every if count % _MANY == 0 else every
        await asyncio.sleep(every)


def _processors() -> tuple[int, int] | None:
    """Ticks of all processors since the system's start, idle and total; None if the system shows none."""
    try:
        ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    except (OSError, ValueError):
        return None
    return ticks[3] + ticks[4], sum(ticks)


def _processor_use(before: tuple[int, int], now: tuple[int, int]) -> dict[str, int]:
    """The load since the previous sample; empty for the first."""
    idle, ticks = (late - early for early, late in zip(before, now, strict=True))
    return {"cpu_percent": 100 - 100 * idle // ticks} if before[1] and ticks > 0 else {}


def _memory() -> dict[str, int]:
    with suppress(OSError, ValueError, KeyError):
        rows = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
        kib = {words[0]: int(words[1]) for words in rows}
        return {"memory_mib": (kib["MemTotal:"] - kib["MemAvailable:"]) // 1024}
    return {}


def _of_machine(machine: Machine, in_use: Mapping[int, tuple[str, str]]) -> dict[str, int]:
    """The use of its own GPUs, numbered as its jobs number them."""
    usages = {}
    for number, gpu in enumerate(machine.gpus):
        for name, text in zip(("percent", "memory_mib"), in_use.get(gpu, ()), strict=False):
            if text.isdecimal():
                usages[f"gpu{number}_{name}"] = int(text)
    return usages


def _append(directory: Path, text: str) -> None:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with (
        Confined.real(directory) as place,
        os.fdopen(os.open(FILE, flags, 0o666, dir_fd=place.fd), "a") as file,
    ):
        file.write(text)
