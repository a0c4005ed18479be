"""last_error: the line that shows why a job failed, read when its end is recorded, without delaying it.

Lists and events show it, since they read no file of the job. It costs a read of the ledger and two or three
calls to the engine, for each job that failed by its own fault and gets no other attempt.
"""

from __future__ import annotations

from shared.core.engine import Observation
from shared.core.errors import SlipwayError
from shared.core.job import Job, Reason
from shared.core.ports import Ports
from shared.delivery.last_lines import error_line, read_end_soon

#: Failures of the job's own programs, which have written more.
_OWN = (Reason.USER, Reason.PREPARATION)


async def last_error(ports: Ports, job: Job, observation: Observation) -> str:
    """The line, printable and without secrets; "" if there is none in time. Never raises."""
    if observation.reason not in _OWN:
        return ""
    target = job.fixed_target
    try:
        document = await ports.ledger.spec(job.id)
    except SlipwayError:
        return ""
    # After repeated failures, no job of the cluster waits for its line for a while.
    patience = ports.policy.last_error_patience
    last = await read_end_soon(ports, job, target, document, patience, observation.reason)
    return error_line(last.lines) if last else ""
