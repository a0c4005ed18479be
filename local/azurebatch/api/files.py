"""Files of tasks and of nodes: lists, properties, contents, deletion."""

import mimetypes
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import formatdate
from http import HTTPStatus
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from aiohttp import web

from confined import Confined
from confined.entries import Entry
from confined.removal import remove
from confined.way import Refused
from local.azurebatch.api.nodes import node_of
from local.azurebatch.api.odata import filter_of, page_size
from local.azurebatch.api.wire import Call, document
from local.azurebatch.run.node_directory import directory_of, task_root
from local.azurebatch.state.errors import BatchError, conflict
from local.azurebatch.state.models import Node
from local.azurebatch.state.moment import stamp
from local.file_answer import answer_file

#: Levels of folders below a task's that a recursive list enters.
_DEEPEST = 64


class _Spot(NamedTuple):
    """A directory on a node."""

    node: Node
    below: str


async def of_task(call: Call) -> web.StreamResponse:
    """The files of a task."""
    return _listed(call, *_of_task(call))


async def of_node(call: Call) -> web.StreamResponse:
    """The files of a node."""
    return _listed(call, *_of_node(call))


async def read_of_task(call: Call) -> web.StreamResponse:
    """A file of a task, whole or in part; with HEAD its properties."""
    return await _answered(call, *_of_task(call))


async def read_of_node(call: Call) -> web.StreamResponse:
    """A file of a node, whole or in part; with HEAD its properties."""
    return await _answered(call, *_of_node(call))


async def delete_of_task(call: Call) -> web.StreamResponse:
    """Delete a file of a task."""
    return _deleted(call, *_of_task(call))


async def delete_of_node(call: Call) -> web.StreamResponse:
    """Delete a file of a node."""
    return _deleted(call, *_of_node(call))


def _of_task(call: Call) -> _Spot:
    """The node of a task, and its directory there. Raises BatchError."""
    job = call.store.job(call.names["job"])
    task = call.store.task(job.id, call.names["task"])
    if not task.nodes:
        raise conflict("TaskFilesUnavailable", "The task has not run on a compute node, so it has no files.")
    pool = call.store.pools.get(task.pool)
    node = pool.node(task.nodes[0]) if pool else None
    if node is None or node.state == "leavingpool":
        message = "The compute node on which the task ran is gone, and the files of the task with it."
        raise conflict("TaskFilesUnavailable", message)
    return _Spot(node, task_root(job.id, task.id))


def _of_node(call: Call) -> _Spot:
    return _Spot(node_of(call).node, ".")


def _listed(call: Call, node: Node, below: str) -> web.Response:
    """A page of files by name, including directories."""
    deep = call.request.query.get("recursive", "").lower() == "true"
    after = call.request.query.get("$skiptoken", "")
    most = page_size(call)
    test = filter_of(call, "files")
    url = f"{call.base}{call.request.path}"
    directory = directory_of(call.emulator.settings.data, node)
    directory.make()
    try:
        with Confined.real(directory.root) as root, root.directory(below) as base:
            views = (_view(url, name, entry) for name, entry in _walk(base, "", deep) if name > after)
            views_kept = sorted((view for view in views if test(view)), key=lambda view: str(view["name"]))
    except FileNotFoundError:
        views_kept = []
    except (Refused, NotADirectoryError):
        raise _absent() from None
    shown = views_kept[:most]
    body: dict[str, Any] = {"value": shown}
    if len(views_kept) > most:
        pairs = dict(call.request.query) | {"$skiptoken": str(shown[-1]["name"])}
        body["odata.nextLink"] = f"{url}?{urlencode(pairs)}"
    return document(call, "files", body)


def _walk(base: Confined, folder: str, deep: bool) -> Iterator[tuple[str, Entry]]:
    """Files and folders by name, without the content of those below that are too deep, too full or closed."""
    try:
        entries = base.entries(folder or ".")
    except OSError:
        if not folder:
            raise
        return
    for entry in entries:
        name = f"{folder}/{entry.name}" if folder else entry.name
        if entry.kind not in ("file", "directory"):
            continue
        yield name, entry
        if deep and entry.kind == "directory" and name.count("/") < _DEEPEST and entry.path.endswith(name):
            yield from _walk(base, name, deep)


def _view(url: str, name: str, entry: Entry) -> dict[str, Any]:
    view: dict[str, Any] = {
        "name": name,
        "url": f"{url}/{quote(name)}",
        "isDirectory": entry.kind == "directory",
    }
    if entry.kind == "file":
        when = stamp(datetime.fromtimestamp(entry.modified, UTC))
        view["properties"] = {
            "creationTime": when,
            "lastModified": when,
            "contentLength": str(entry.size),
            "contentType": _type_of(name),
            "fileMode": "0o100644",
        }
    return view


async def _answered(call: Call, node: Node, below: str) -> web.StreamResponse:
    name = call.names["file"]
    path = str(PurePosixPath(below, name))
    extra = {
        "ocp-batch-file-url": f"{call.base}{quote(call.request.path)}",
        "ocp-batch-file-isdirectory": "false",
        "ocp-batch-file-mode": "0o100644",
    }
    spot = directory_of(call.emulator.settings.data, node).root
    try:
        with Confined.real(spot) as root:
            try:
                file = root.file(path)
            except (IsADirectoryError, Refused):
                root.directory(path)
                return _directory(call, extra)
    except (OSError, Refused):
        raise _absent() from None
    with file:
        range_header = call.request.headers.get("ocp-range") or call.request.headers.get("Range")
        answer = await answer_file(
            call.request,
            file,
            range_header,
            partial=200,  # clients of Batch accept no 206
            **{**extra, "Content-Type": _type_of(name), "ocp-creation-time": _now()},
        )
    if answer.status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        message = "The range specified is invalid for the current size of the resource."
        raise BatchError(answer.status, "InvalidRange", message)
    return answer


def _now() -> str:
    return formatdate(usegmt=True)


def _directory(call: Call, extra: dict[str, str]) -> web.Response:
    if call.request.method != "HEAD":
        raise conflict("OperationNotValidOnDirectory", "The operation cannot be done on a directory.")
    return web.Response(headers={**extra, "ocp-batch-file-isdirectory": "true"})


def _deleted(call: Call, node: Node, below: str) -> web.Response:
    deep = call.request.query.get("recursive", "").lower() == "true"
    spot = directory_of(call.emulator.settings.data, node).root
    try:
        with Confined.real(spot) as root, root.directory(below) as base:
            folder, name = base.parent(call.names["file"], links=False)
            with folder:
                _remove(folder, name, deep)
    except (FileNotFoundError, NotADirectoryError, Refused):
        raise _absent() from None
    return web.Response()


def _remove(folder: Confined, name: str, deep: bool) -> None:
    try:
        os.unlink(name, dir_fd=folder.fd)
    except IsADirectoryError:
        if not deep:
            message = "The directory is not empty, or recursive is not true."
            raise conflict("OperationNotValidOnDirectory", message) from None
        if not remove(f"/proc/{os.getpid()}/fd/{folder.fd}/{name}"):
            message = "The directory cannot be removed, because of the rights of what is in it."
            raise conflict("OperationNotValidOnDirectory", message) from None


def _absent() -> BatchError:
    return BatchError(404, "FileNotFound", "The specified file does not exist.")


def _type_of(name: str) -> str:
    return mimetypes.guess_type(name)[0] or "application/octet-stream"
