"""The last lines of what a failed job wrote to standard error, of each of its processes."""

from collections.abc import Mapping
from typing import Any

from slipway.client.service import Service
from slipway.failure import Failure
from slipway.terminal import printable

#: Files that are shown at most, bytes and lines of each.
_FILES, _END, _LINES = 8, 8192, 20


async def last_errors(api: Service, job: Mapping[str, Any]) -> list[str]:
    """Lines to show below the record; none of a job that did not fail, or wrote nothing there."""
    if job["state"] != "failed" or "engine" not in job:
        return []
    try:
        files = await api.files(job["id"], "stdouterr")
        named = sorted(
            (f["name"], f["bytes"]) for f in files if f["name"].startswith("stderr") and f["bytes"]
        )
    except Failure:
        return []  # its files are gone, or cannot be seen from there: the record is what was asked for
    lines = []
    for name, size in named[:_FILES]:
        try:
            chunk = await api.content(job["id"], "stdouterr", name, max(0, size - _END))
        except Failure:
            continue  # the others may say why it failed
        lines += ["", f"the end of {printable(name)}:", *_lines(chunk.data)]
    if len(named) > _FILES:
        lines += ["", f"and {len(named) - _FILES} more: slipway files {job['id']}"]
    return lines


def _lines(data: bytes) -> list[str]:
    return [f"  {printable(line)}" for line in data.decode("utf-8", "replace").splitlines()[-_LINES:]]
