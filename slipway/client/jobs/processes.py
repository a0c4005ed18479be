"""The processes of a job, by the files that they write: `stdout.txt` and `stderr.txt`, or `stdout-0.txt` …"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from slipway.client.calls.patience import patiently
from slipway.client.calls.refusal import Absent
from slipway.client.service import Service
from slipway.failure import Failure

#: stdout.txt, stderr-3.txt, stdout-wk-0.txt: the rank follows the first dash.
_NAME = re.compile(r"(?P<stream>stdout|stderr)(?:-(?P<rank>.+))?\.txt", re.DOTALL)
#: Bytes that are read at a time when searching the end of a file for its last lines, and for matching ones.
_BLOCK, _SEARCHED = 1 << 16, 1 << 20
#: Most bytes of a line: a longer one is searched and printed in parts.
LONGEST = 1 << 16
#: Most ranks that a message names.
_NAMED = 12


@dataclass(frozen=True)
class ProcessLog:
    """Standard output or error of one process, or the one requested file. `rank` may be ""."""

    name: str
    rank: str
    size: int
    #: stdout or stderr; "" for a requested file
    stream: str = ""
    #: when it was written last, as the service has it; "" if it does not
    modified: str = ""


async def logs_of(
    api: Service, job: Mapping[str, Any], file: str, rank: str, stream: str = ""
) -> list[ProcessLog]:
    """The logs to print, if there are any yet. Raises Failure for a rank that the job does not have.

    Without `file`, `rank` and `stream`: both streams of every process; those of the preparation only if no
    other process has written. One list of files, however many there are.
    """
    if "engine" not in job and api.attempt in (0, job.get("attempt", 1)):
        return []  # no node wrote it
    folder, _, last = file.rpartition("/")
    try:
        entries = await patiently(lambda: api.files(job["id"], "stdouterr", folder or "."))
    except Absent:
        return []
    sizes = {entry["name"]: entry["bytes"] for entry in entries if entry["bytes"] is not None}
    if file:
        return [ProcessLog(file, "", sizes[last])] if last in sizes else []
    times = {entry["name"]: entry.get("modified") or "" for entry in entries}
    both = sorted(
        (
            ProcessLog(name, match["rank"] or "", sizes[name], match["stream"], times[name])
            for name in sizes
            if (match := _NAME.fullmatch(name))
        ),
        key=_order,
    )
    logs = _of_rank(_processes(both, rank), rank) if rank and both else _processes(both, rank)
    return [one for one in logs if stream in ("", one.stream)]


def _processes(logs: list[ProcessLog], rank: str) -> list[ProcessLog]:
    """The logs without those of the preparation, unless only it has written."""
    own = [one for one in logs if "job_prep" not in one.rank]
    if own and (rank or any(one.size for one in own)):
        return own
    return [one for one in logs if one in own or one.size] or logs


def are_several(logs: Sequence[ProcessLog]) -> bool:
    """Whether their lines need the rank of their process: not beside those of the preparation alone."""
    preparation = {log.rank for log in logs if "job_prep" in log.rank}
    return max(len(preparation), len({log.rank for log in logs} - preparation)) > 1


def last_state(line: bytes) -> bytes:
    """A line without what a terminal shows no more: each carriage return begins it again.

    One at its end stays, since the line end may follow it.
    """
    return line[line.rstrip(b"\r").rfind(b"\r") + 1 :]


async def start_of_tail(api: Service, job_id: str, log: ProcessLog, count: int) -> int:
    """The offset at which the last `count` lines of a file begin."""
    end, lacking = log.size if count else 0, count
    while end > 0:
        first = max(0, end - _BLOCK)
        block = await patiently(partial(api.content, job_id, "stdouterr", log.name, first, end - 1))
        # The newline at the end of the file begins no further line.
        at = len(block.data) - (end == log.size and block.data.endswith(b"\n"))
        while lacking and (at := block.data.rfind(b"\n", 0, at)) >= 0:
            lacking -= 1
        if not lacking:
            return first + at + 1
        end = first
    return 0 if count else log.size


async def start_of_found(
    api: Service, job_id: str, log: ProcessLog, count: int, takes: Callable[[bytes], bool]
) -> int:
    """The offset of the first of the last `count` lines that `takes` accepts."""
    end, rest, lacking = log.size if count else 0, b"", count
    while end > 0:
        first = max(0, end - _SEARCHED)
        read = partial(api.content, job_id, "stdouterr", log.name, first, end - 1)
        data = (await patiently(read)).data + rest
        at = first + len(data)
        lines = data.split(b"\n")
        if end == log.size and not lines[-1]:
            at -= len(lines.pop()) + 1
        rest = lines.pop(0) if first and len(lines[0]) <= LONGEST else b""
        for line in reversed(lines):
            at -= len(line)
            lacking -= takes(line)
            if not lacking:
                return at
            at -= 1
        end = first
    return 0 if count else log.size


def _of_rank(logs: Sequence[ProcessLog], rank: str) -> list[ProcessLog]:
    """The logs of a rank; rank 1 also means wk-1 if the job's processes are wk-0, wk-1."""
    for name in (rank, f"wk-{rank}"):
        if named := [log for log in logs if log.rank == name]:
            return named
    if rank == "0" and not any(log.rank for log in logs):
        return list(logs)
    ranks = list(dict.fromkeys(log.rank for log in logs if log.rank)) or ["0"]
    if len(ranks) > _NAMED:
        ranks[_NAMED - 1 : -1] = ["…"]
    others = (
        f"its processes have {', '.join(ranks)}" if len(ranks) > 1 else f"its only process has {ranks[0]}"
    )
    raise Failure(f"no process of the job has the rank {rank}; {others}")


def _order(log: ProcessLog) -> tuple[object, ...]:
    """A sort key that puts rank 10 after rank 9, and standard error after standard output."""
    parts = log.rank.split("-")
    ranks = tuple((True, int(part)) if part.isdecimal() else (False, part) for part in parts)
    return ranks, log.stream != "stdout"
