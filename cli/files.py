"""`slipway files`: what lies in an output directory of a job."""

from collections.abc import Mapping, Sequence
from typing import Any

from cli.jobs import asking, show
from cli.screen import table
from cli.service import Service


def run(job_id: str, directory: str, path: str, url: str, key: str, *, as_json: bool) -> int:
    """Print one line for each entry. Raises Failure with the directories that there are."""

    async def ask(api: Service) -> int:
        show(await api.files(job_id, directory, path), rows, as_json=as_json)
        return 0

    return asking(ask, url, key)


def rows(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Files as a table; folders end with a slash and have no size."""
    if not found:
        return ["there are no files"]
    return table([("name", "bytes", "modified"), *map(_row, found)])


def _row(file: Mapping[str, Any]) -> tuple[str, ...]:
    folder = file["bytes"] is None
    modified = (file["modified"] or "")[:19].replace("T", " ")
    return file["name"] + "/" * folder, "" if folder else str(file["bytes"]), modified
