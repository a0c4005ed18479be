"""stderr: the last lines of standard error of a job's processes, without the job's secrets.

Of standard output where no process wrote to standard error.
"""

from __future__ import annotations

from typing import NamedTuple

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.engine import OutputFile
from shared.core.errors import NotFound, Rejected
from shared.core.job import Target
from shared.core.ports import Ports
from shared.delivery.last_lines import end_of, errors_among
from shared.delivery.receipt import LastLines
from shared.operate.files.attempts import attempt_of, target_of
from shared.operate.files.in_time import answered, logs_of
from shared.operate.files.output import refusal

#: The most processes to show; and the file of a job with one.
_FILES, _USUAL = 8, "stderr.txt"


class Ends(NamedTuple):
    """The last lines of some processes, and how many other processes have some."""

    files: tuple[LastLines, ...]
    more: int


async def stderr(ports: Ports, job_id: str, who: Caller = KEY_HOLDER, attempt: str = "") -> Ends:
    """The last lines of each process that wrote to standard error. Raises Misuse (404, 409)."""
    stored = await attempt_of(ports, job_id, attempt, who)
    target = target_of(stored)
    document = await ports.ledger.spec(job_id)
    lines = list[LastLines]()
    try:
        files = await logs_of(ports, target)
        written = await _usual(ports, target) if files is None else errors_among(files)
        for file in written[:_FILES]:
            try:
                end = await answered(ports, end_of(ports, stored.job, target, file, document))
            except (NotFound, Rejected):
                continue  # deleted since, or a name that the cluster refuses: other files may help
            lines += [end] if end else []
    except (NotFound, Rejected) as error:
        raise await refusal(ports, stored, "stdouterr", str(error)) from error
    return Ends(tuple(lines), len(written[_FILES:]))


async def _usual(ports: Ports, target: Target) -> list[OutputFile]:
    """The file of a job on one node, in a folder with too many names to list."""
    engine = ports.engines.get(target.engine)
    first = await answered(ports, engine.read(target, "stdouterr", _USUAL, 0, 1))
    return [OutputFile(_USUAL, first.size, None)]
