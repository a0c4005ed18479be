"""The processes of a pod on this machine: their paths, and how they end."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from contextlib import suppress
from pathlib import Path


def moved(text: str, places: dict[str, str]) -> str:
    """The text with a container's paths replaced by ours, as processes share this machine's file system."""
    for path in sorted(places, key=len, reverse=True):
        text = re.sub(rf"(?<![\w./-]){re.escape(path)}(?![\w-])", places[path], text)
    return text


def kill(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def clear(uid: str) -> None:
    """Kill all processes with the pod's mark, as a container does when its first process ends."""
    mark = f"SLIPWAY_POD={uid}".encode()
    until = time.monotonic() + 5
    while time.monotonic() < until:
        processes = [
            int(one.name) for one in Path("/proc").iterdir() if one.name.isdecimal() and _has(one, mark)
        ]
        for pid in processes:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not processes:
            return
        time.sleep(0.01)


def _has(process: Path, mark: bytes) -> bool:
    try:
        is_dead = b") Z " in (process / "stat").read_bytes()
        return not is_dead and mark in (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
