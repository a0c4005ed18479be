"""How busy the nodes of a job are: a job asks for these reports by a variable. Pure.

A service without such reports ignores the variable. The emulator writes them beside the directory of standard
output, in which clients of Batch AI find what the service wrote and nothing else. Here they are listed and
read as one of its files, as on every other engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: The variable that asks for the reports, and the id of their directory.
ASKS, DIRECTORY = "SLIPWAY_USAGE", "slipway-usage"
_FILE = "usage.jsonl"


def asking(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a job, with the variable that asks for the reports behind its others."""
    properties = document["properties"]
    variables = [*(properties.get("environmentVariables") or ()), {"name": ASKS, "value": "1"}]
    return {**document, "properties": {**properties, "environmentVariables": variables}}


def have_reports(directory: str, path: str, after: str) -> bool:
    """Whether the reports belong to this page of a list: the first one of standard output."""
    return (directory, path, after) == ("stdouterr", ".", "")


def with_reports(listed: Sequence[dict[str, Any]], reports: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries of that page, with the reports. A job's own file of that name takes their place."""
    names = [entry["name"] for entry in listed]
    if _FILE in names:
        return list(listed)
    at = next((index for index, name in enumerate(names) if name > _FILE), len(names))
    return [*listed[:at], *(one for one in reports if one["name"] == _FILE), *listed[at:]]
