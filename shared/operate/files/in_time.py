"""in_time: a job's files within a bounded time, since a folder may have very many names."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from shared.core.engine import OutputFile
from shared.core.errors import Busy, EngineError
from shared.core.job import Target
from shared.core.ports import Ports

_Answer = TypeVar("_Answer")


async def logs_of(ports: Ports, target: Target) -> tuple[OutputFile, ...] | None:
    """The files of stdouterr; None for a folder with too many names to list now."""
    try:
        async with asyncio.timeout(ports.policy.metrics_patience):
            return await ports.engines.get(target.engine).files(target, "stdouterr")
    except TimeoutError:
        return None


async def has_files(ports: Ports, target: Target, directory: str) -> bool:
    """Whether a directory has any file now, as far as its cluster shows that."""
    try:
        async with asyncio.timeout(ports.policy.metrics_patience):
            return bool((await ports.engines.get(target.engine).page(target, directory, ".", "")).files)
    except (EngineError, TimeoutError):
        return False


async def answered(ports: Ports, answer: Awaitable[_Answer]) -> _Answer:
    """What a cluster answers about a file. Raises Busy where it takes too long.

    A file may be found by a list only, which goes on, so that a later request is answered.
    """
    try:
        async with asyncio.timeout(ports.policy.read_patience):
            return await answer
    except TimeoutError:
        text = "its cluster has not found the file yet: the folder has very many names; ask again in a minute"
        raise Busy(text) from None
