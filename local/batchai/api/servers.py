"""Operations on file servers. A file server is a directory of this machine, which jobs and clusters mount."""

import uuid
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from local.batchai.api.bodies import FILE_SERVER
from local.batchai.api.deletion import delete
from local.batchai.api.existing import check_same
from local.batchai.api.operations import accepted
from local.batchai.api.rules import file_server_problems
from local.batchai.api.views import file_server_view
from local.batchai.api.wire import Call, one
from local.batchai.api.workspaces import refuse_while_deleting, workspace_of
from local.batchai.state import ids
from local.batchai.state.errors import all_of, invalid, not_found
from local.batchai.state.models import FileServer


async def put_file_server(call: Call) -> web.Response:
    """Create it. Repeating the request changes nothing; no property can be changed."""
    refuse_while_deleting(workspace_of(call))
    document: dict[str, Any] = (await call.body(FILE_SERVER))["properties"]
    if problems := list(file_server_problems(document)):
        raise all_of(problems)
    existing = call.store.file_servers.get(ids.file_server(call.names))
    if existing is not None:
        check_same(existing, document, "Choose another name, or delete the file server first.")
        return _response(existing)
    server = FileServer(
        id=ids.file_server(call.names),
        sequence=call.store.next_sequence(),
        created=call.emulator.clock(),
        document=document,
        instance=str(uuid.uuid4()),
    )
    call.emulator.settings.server(server.instance).mkdir(parents=True)
    call.store.save(server)
    return accepted(call, "create", server)


async def get_file_server(call: Call) -> web.Response:
    """Answer with a file server, or 404."""
    workspace_of(call)
    server = call.store.file_servers.get(ids.file_server(call.names))
    if server is None:
        raise not_found("fileServer", call.names["fileServer"])
    return _response(server)


async def delete_file_server(call: Call) -> web.Response:
    """Delete it with the files on it."""
    return delete(call, call.store.file_servers.get(ids.file_server(call.names)))


async def list_file_servers(call: Call) -> web.Response:
    """The file servers of a workspace."""
    return call.page(file_server_view, call.store.file_servers.children(workspace_of(call).id))


def check_servers(call: Call, mounts: Mapping[str, Any], path: str) -> None:
    """Raise ArmError unless every file server to be mounted exists."""
    problems = []
    for index, mount in enumerate(mounts.get("fileServers", ())):
        server = call.store.file_servers.get(mount["fileServer"]["id"])
        if server is None or server.deleting:
            name = ids.name(mount["fileServer"]["id"])
            message = f"The specified fileServer {name} is not found"
            problems.append(invalid(message, f"{path}/{index}/fileServer/id", "FileServerNotFound"))
    if problems:
        raise all_of(problems)


def _response(server: FileServer) -> web.Response:
    return one(file_server_view(server), server.created)
