"""Copies the resource files of a task to its node."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import aiohttp

from confined import Confined
from confined.way import Refused
from local.azurebatch.run.endings import failure

_PATIENCE = aiohttp.ClientTimeout(total=300)


async def fetch(files: Sequence[Mapping[str, Any]], directory: Path) -> None:
    """Download each `httpUrl` into the working directory. Raises Failure."""
    if not files:
        return
    async with aiohttp.ClientSession(timeout=_PATIENCE, trust_env=False) as session:
        for file in files:
            await _fetch_one(session, file["httpUrl"], file["filePath"], file.get("fileMode"), directory)


async def _fetch_one(
    session: aiohttp.ClientSession, url: str, name: str, mode: str | None, directory: Path
) -> None:
    try:
        async with session.get(url) as answer:
            if answer.status != 200:
                codes = {403: "BlobAccessDenied", 404: "BlobNotFound"}
                raise failure(
                    codes.get(answer.status, "BlobDownloadMiscError"),
                    "One of the specified Azure Blob(s) cannot be downloaded",
                    {"FilePath": name, "HttpStatus": str(answer.status)},
                )
            content = await answer.read()
    except (aiohttp.ClientError, TimeoutError, ValueError):
        message = "One of the specified Azure Blob(s) cannot be downloaded"
        raise failure(
            "BlobDownloadMiscError", message, {"FilePath": name, "Reason": "it does not answer"}
        ) from None
    try:
        await asyncio.to_thread(write, directory, name, content, int(mode or "0770", 8))
    except (OSError, Refused, ValueError) as error:
        message = "A resource file cannot be written"
        raise failure("ResourceFileWriteFailed", message, {"FilePath": name, "Reason": str(error)}) from None


def write(directory: Path, name: str, content: bytes, mode: int) -> None:
    """Write a file without following links that a task made."""
    folder, _, last = name.rpartition("/")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with (
        Confined.real(directory) as base,
        base.make_directory(folder) as parent,
        os.fdopen(os.open(last, flags, mode, dir_fd=parent.fd), "wb") as file,
    ):
        os.fchmod(file.fileno(), mode)
        file.write(content)
