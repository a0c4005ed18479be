"""The last lines of a failed job's standard error, for each of its processes."""

from collections.abc import Mapping
from typing import Any

from slipway.client.calls.refusal import Absent
from slipway.client.service import Service
from slipway.failure import Failure
from slipway.terminal.characters import printable


async def last_errors(api: Service, job: Mapping[str, Any]) -> list[str]:
    """Lines to show below the record, without secrets; none if the job did not fail, or wrote nothing."""
    if job["state"] != "failed" or "engine" not in job:
        return []
    try:
        ends = await api.errors(job["id"])
        lines = [line for one in ends["files"] for line in _lines(str(one["file"]), one["lines"])]
        more = int(ends["more"])
    except (Absent, TypeError, KeyError, ValueError):
        return []  # its files are gone, or cannot be seen from there: the record is what was asked for
    except Failure as failure:
        return ["", f"its standard error cannot be read: {failure}"]
    return [*lines, "", f"and {more} more: slipway files {job['id']}"] if more else lines


def _lines(name: str, lines: list[str]) -> list[str]:
    return ["", f"the end of {printable(name)}:", *(f"  {printable(line)}" for line in lines)]
