"""last_lines: the end of what a failed job wrote, without its secrets.

Of standard error; of standard output where that has nothing, as of a script with `2>&1`.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from shared.core.conceal import without_secrets
from shared.core.engine import OutputFile
from shared.core.errors import Busy, SlipwayError, Transient
from shared.core.job import Job, Reason, Target, plain
from shared.core.ports import Ports
from shared.delivery.receipt import LastLines

log = logging.getLogger(__name__)
_T = TypeVar("_T")

_BYTES, _LINES, _NAME = 4096, 20, 300
#: The most processes whose lines are read in search of the one that failed first.
_PROCESSES = 8
#: Bytes to read if the last line alone is longer; then its first characters are shown.
_LONGEST = 1 << 16
#: The most characters of the line in lists and events.
_ONE = 300
#: Sequences that a terminal does not show (ECMA-48): colours and moves of its cursor; titles and targets of
#: links, to their end or that of the line; choices of a character set, as `tput sgr0` writes them.
_CONTROL_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]+[0-~]|[0-Z\\^-~])"
)
#: What may be left of a line, or of a state of a progress bar, whose beginning was not read.
_TO_LINE_END = re.compile(r"[^\n\r]*(?:\r?\n|\r|\Z)")
#: The last line of a Python traceback, also after a launcher's prefix with the rank.
_NAMED = re.compile(r"(?:^|[\s>\]:])[A-Za-z_][\w.]*(?:Error|Exception): \S", re.ASCII)


async def read_end(
    ports: Ports, job: Job, target: Target, reason: Reason | None, document: Mapping[str, Any] | None
) -> LastLines | None:
    """At most 20 whole lines; None where there are none.

    Those of the first process, by name, that ended with the name of an error; else of the first one.
    If the last line is longer than 4 KiB, its beginning; if it is longer than 64 KiB, none. Makes two or
    three calls to the engine for one process, at most two for each other, and raises their errors.

    `reason`: why the job failed. `document`: as the ledger has it, since its sealed values are masked.
    """
    listed = await ports.engines.get(target.engine).files(target, "stdouterr")
    first: LastLines | None = None
    for file in _explaining(listed, reason)[:_PROCESSES]:
        end = await end_of(ports, job, target, file, document)
        if end is not None and any(map(_NAMED.search, end.lines)):
            return end
        first = first or end
    return first


def errors_among(files: Iterable[OutputFile]) -> list[OutputFile]:
    """Standard error of each process that wrote some, by name; if none did, standard output."""
    written = sorted((f for f in files if f.size), key=lambda f: f.name)
    errors = [file for file in written if file.name.startswith("stderr")]
    return errors or [file for file in written if file.name.startswith("stdout")]


async def end_of(
    ports: Ports, job: Job, target: Target, file: OutputFile, document: Mapping[str, Any] | None
) -> LastLines | None:
    """The last lines of one file."""
    engine = ports.engines.get(target.engine)
    for size in (_BYTES, _LONGEST):
        start = max(0, (file.size or 0) - size)
        chunk = await engine.read(target, "stdouterr", file.name, start, size)
        # First: a sequence within a secret would hide it.
        written = _CONTROL_SEQUENCE.sub("", chunk.data.decode("utf-8", "replace"))
        lines = _lines(without_secrets(ports, job, document, written), is_cut=start > 0)
        if worded := [line for line in lines if line.strip()]:
            shown = lines[-_LINES:] if size == _BYTES else [worded[-1][:_BYTES]]
            offset = start + _beginning(chunk.data, len(shown))
            return LastLines(plain(file.name, _NAME), tuple(shown), offset)
        if not start:
            break
    return None


async def read_end_soon(
    ports: Ports, job: Job, target: Target, document: Mapping[str, Any] | None, seconds: float,
    reason: Reason | None,
) -> LastLines | None:  # fmt: skip
    """The same, if the cluster returns its files within `seconds`. Never raises."""
    return await read_soon(ports, job, seconds, read_end(ports, job, target, reason, document))


async def read_soon(ports: Ports, job: Job, seconds: float, reading: Coroutine[Any, Any, _T]) -> _T | None:
    """What is read of a job's files, if the cluster returns them within `seconds`; else None. Never raises.

    Files have a breaker of their own, since a share that hangs does not concern the scheduler. While it is
    open, nothing is read. The deadline does not count as a failure: one job may have thousands of files.
    """
    path = f"{job.fixed_target.engine}/{job.fixed_target.cluster}/files"
    if ports.breaker.wait(path, ports.clock()):
        reading.close()
        return None
    try:
        async with asyncio.timeout(seconds):
            answer = await reading
    except Exception as error:
        refused = isinstance(error, SlipwayError | TimeoutError)
        if not refused:
            # The job chose names and content, so an error only costs these lines.
            log.exception("the last lines of %s cannot be read", job.id, extra={"job": job.id})
        if not refused or (isinstance(error, Transient) and not isinstance(error, Busy)):
            ports.breaker.failed(path, ports.clock())
        else:
            ports.breaker.succeeded(path)
        return None
    ports.breaker.succeeded(path)
    return answer


def _lines(text: str, *, is_cut: bool) -> list[str]:
    """The whole lines of a text, as a terminal shows them in the end: a progress bar writes over itself."""
    if is_cut:
        text = _TO_LINE_END.sub("", text, count=1)
    shown = (line.rstrip("\r").rpartition("\r")[2] for line in text.removesuffix("\n").split("\n"))
    return [piece for line in shown for piece in line.splitlines() or [""]]


def _beginning(data: bytes, lines: int) -> int:
    """Where so many last lines begin in what was read; what a terminal shows as several counts as one."""
    end = len(data.removesuffix(b"\n"))
    for _ in range(lines):
        end = data.rfind(b"\n", 0, end)
        if end < 0:
            return 0
    return end + 1


def error_line(last: LastLines) -> str:
    """The line most likely to explain the failure: the last with an error's name, else with a word.

    Of standard output only one with a name: its last line may be what the job printed as it should.
    """
    words = [line for line in last.lines if re.search(r"\w", line)]
    named = [line for line in words if _NAMED.search(line)]
    others = [] if last.file.startswith("stdout") else words
    return plain((named or others or [""])[-1].strip(), _ONE).strip()


def _explaining(files: Iterable[OutputFile], reason: Reason | None) -> list[OutputFile]:
    """The files that may explain the failure: the preparation's if that failed, else those of the others."""
    files = list(files)
    preparation = reason is Reason.PREPARATION
    return errors_among(f for f in files if ("job_prep" in f.name) is preparation) or errors_among(files)
