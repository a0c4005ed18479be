"""Uploads the output files of a task to containers of blobs, when its process has exited.

What a task wrote is hostile: no link of its leads out of the node, and only regular files are sent.
"""

import asyncio
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
from yarl import URL

from confined import Confined
from local.azurebatch.run.endings import failure
from local.azurebatch.run.output_pattern import match_path, parts_of
from local.azurebatch.run.transfer import write

#: The two logs of uploads in a task's directory, as the service names them.
_DONE_LOG, _ERROR_LOG = "fileuploadout.txt", "fileuploaderr.txt"
#: Levels of folders that a pattern reaches.
_DEEPEST = 64
_PATIENCE = aiohttp.ClientTimeout(total=3600, connect=30)
_CODES = {403: "FileUploadAccessDenied", 404: "FileUploadContainerNotFound"}


@dataclass(frozen=True)
class Upload:
    """A file below the root of the node, and the name of its blob."""

    path: str
    blob: str


async def upload(
    files: Sequence[Mapping[str, Any]], code: int, root: Path, task: str, env: Mapping[str, str]
) -> None:
    """Upload what the conditions ask for after this exit code. `task`: its directory. Raises Failure."""
    chosen = [one for one in files if _is_due(str(one["uploadOptions"]["uploadCondition"]), code)]
    if not chosen:
        return
    out, err = list[str](), list[str]()
    try:
        with Confined.real(root) as node:
            async with aiohttp.ClientSession(timeout=_PATIENCE, trust_env=False) as session:
                for one in chosen:
                    container = one["destination"]["container"]
                    pattern, path = one["filePattern"], container.get("path") or ""
                    for part in await asyncio.to_thread(_listed, root, task, pattern, path, env):
                        await _send(session, node, part, container)
                        out.append(f"{part.path} is the blob {part.blob}")
    except _Refusal as refusal:
        err.append(f"{refusal.path}: {refusal}")
        details = {"FilePath": refusal.path, "Reason": str(refusal)}
        raise failure(refusal.code, _SENTENCES[refusal.code], details) from None
    finally:
        for name, lines in ((_DONE_LOG, out), (_ERROR_LOG, err)):
            text = "".join(f"{line}\n" for line in lines)
            with suppress(OSError):
                await asyncio.to_thread(write, root / task, name, text.encode(), 0o644)


def _listed(root: Path, task: str, pattern: str, path: str, env: Mapping[str, str]) -> list[Upload]:
    """The files of a pattern, in a thread, which has the node open for itself. Raises _Refusal."""
    with Confined.real(root) as node:
        return [*uploads(node, root, task, pattern, path, env)]


def uploads(
    node: Confined, root: Path, task: str, pattern: str, path: str, env: Mapping[str, str]
) -> Iterator[Upload]:
    """The files of a pattern, which begins in the task's working directory. Raises _Refusal."""
    try:
        parts = parts_of(pattern, f"{root}/{task}/wd", env)
    except re.error:
        raise _Refusal("FileUploadMiscError", pattern, "the pattern cannot be read") from None
    above = [name for name in str(root).split("/") if name]
    if [part.text for part in parts[: len(above)]] != above:
        return  # outside the node
    parts = parts[len(above) :]
    names = [part.text for part in parts]
    if None not in names:
        whole = "/".join(map(str, names))
        if whole and _is_file(node, whole):
            yield Upload(whole, path or posixpath.basename(whole))
        return
    base = "/".join(str(name) for name in names[: names.index(None)])
    for name in _walk(node, base):
        if match_path(parts, name.split("/")):
            yield Upload(name, posixpath.join(path, name.removeprefix(base).lstrip("/")))


class _Refusal(Exception):
    """Why a file is not uploaded, with the service's code."""

    def __init__(self, code: str, path: str, reason: str) -> None:
        super().__init__(reason)
        self.code, self.path = code, path


_SENTENCES: Mapping[str, str] = {
    "FileUploadAccessDenied": "Access was denied to the container for one of the specified output file(s)",
    "FileUploadContainerNotFound": "The container for one of the specified output file(s) was not found",
    "FileUploadMiscError": "An error occurred while uploading one of the specified output file(s)",
}


async def _send(
    session: aiohttp.ClientSession, node: Confined, part: Upload, container: Mapping[str, Any]
) -> None:
    address, _, signature = str(container["containerUrl"]).partition("?")
    own = {one["name"]: one.get("value") or "" for one in container.get("uploadHeaders") or ()}
    try:
        url = URL(f"{address.rstrip('/')}/{quote(part.blob)}?{signature}", encoded=True)
        with node.file(part.path) as file:
            headers = {"x-ms-blob-type": "BlockBlob", "x-ms-version": "2021-12-02", **own}
            async with session.put(url, data=file, headers=headers) as answer:
                status = answer.status
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
        raise _Refusal("FileUploadMiscError", part.path, "the container does not answer") from None
    if status != 201:
        code = _CODES.get(status, "FileUploadMiscError")
        raise _Refusal(code, part.path, f"the container answers {status}")


def _is_due(condition: str, code: int) -> bool:
    return condition == "taskcompletion" or (condition == "tasksuccess") == (code == 0)


def _is_file(node: Confined, path: str) -> bool:
    try:
        node.file(path).close()
    except OSError:
        return False
    return True


def _walk(node: Confined, folder: str) -> Iterator[str]:
    """Files below a folder. What is too deep, too full or closed is left out, and so are links to folders."""
    try:
        entries = node.entries(folder or ".")
    except OSError:
        return
    for entry in entries:
        name = posixpath.join(folder, entry.name)
        if entry.kind == "file":
            yield name
        elif entry.kind == "directory" and entry.path == name and name.count("/") < _DEEPEST:
            yield from _walk(node, name)
