"""stderr: the last lines of standard error of a job's processes, without the job's secrets."""

from __future__ import annotations

from typing import NamedTuple

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import NotFound, Rejected
from shared.core.ports import Ports
from shared.delivery.last_lines import end_of, errors_among
from shared.delivery.receipt import LastLines
from shared.lifecycle.lookup import job
from shared.operate.files.output import refusal, target_of

#: The most processes to show.
_FILES = 8


class Ends(NamedTuple):
    """The last lines of some processes, and how many other processes have some."""

    files: tuple[LastLines, ...]
    more: int


async def stderr(ports: Ports, job_id: str, who: Caller = KEY_HOLDER) -> Ends:
    """The last lines of each process that wrote to standard error. Raises Misuse (404, 409)."""
    stored = await job(ports, job_id, who)
    target = target_of(stored)
    document = await ports.ledger.spec(job_id)
    lines = list[LastLines]()
    try:
        written = errors_among(await ports.engines.get(target.engine).files(target, "stdouterr"))
        for file in written[:_FILES]:
            try:
                end = await end_of(ports, stored.job, target, file, document)
            except (NotFound, Rejected):
                continue  # deleted since, or a name that the cluster refuses: other files may help
            lines += [end] if end else []
    except (NotFound, Rejected) as error:
        raise await refusal(ports, stored, "stdouterr", str(error)) from error
    return Ends(tuple(lines), len(written[_FILES:]))
