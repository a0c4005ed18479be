"""How busy the nodes of a job are: a job asks for these reports by a variable.

A service without such reports ignores the variable. The emulator writes them beside the directory of standard
output, in which clients of Batch AI find what the service wrote and nothing else. Here they are listed and
read as one of its files, as on every other engine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shared.core.errors import NotFound
from shared.core.job import Target

if TYPE_CHECKING:
    from shared.engines.batchai.calls import Calls, Folder

#: The variable that asks for the reports, the id of their directory, and their file.
ASKS, _DIRECTORY, _FILE = "SLIPWAY_USAGE", "slipway-usage", "usage.jsonl"


def asking(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a job, with the variable that asks for the reports behind its others."""
    properties = document["properties"]
    variables = [*(properties.get("environmentVariables") or ()), {"name": ASKS, "value": "1"}]
    return {**document, "properties": {**properties, "environmentVariables": variables}}


async def with_usage(calls: Calls, target: Target, directory: str, path: str, after: str) -> Folder:
    """A page of listOutputFiles; the first one of standard output has the reports, too.

    A job's own file of that name takes their place. Raises the errors of the list.
    """
    if (directory, path, after) != ("stdouterr", ".", ""):
        return await calls.files(target, directory, path, after)
    listed: Folder
    listed, reports = await asyncio.gather(calls.files(target, directory, path), _reports(calls, target))
    names = [entry["name"] for entry in listed.entries]
    if not reports or _FILE in names:
        return listed
    at = next((index for index, name in enumerate(names) if name > _FILE), len(names))
    return listed._replace(entries=[*listed.entries[:at], *reports, *listed.entries[at:]])


async def _reports(calls: Calls, target: Target) -> list[dict[str, Any]]:
    from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

    try:
        listed = await calls.files(target, _DIRECTORY, ".")
    except (NotFound, ResourceNotFoundError):
        return []
    except HttpResponseError as error:
        if error.status_code == 400:  # the service or the job has no such directory
            return []
        raise
    return [entry for entry in listed.entries if entry["name"] == _FILE]
