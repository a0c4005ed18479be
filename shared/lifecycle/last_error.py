"""last_error: the line that says why a job failed, read as its end is recorded. It holds up no end.

It is for the lists and the events, which no file of the job reaches. It costs a read of the ledger and two
calls to the engine, for each job that failed by its own fault and gets no other attempt.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared.core.errors import Busy, SlipwayError
from shared.core.job import Job, JobState, Reason
from shared.core.ports import Observation, Ports
from shared.delivery.last_lines import error_line, read_end
from shared.lifecycle.calling import calling

log = logging.getLogger(__name__)

#: Seconds. After some failures in a row no job of the cluster waits for its line any more, for a while.
_PATIENCE = 1.0
#: Why a job failed whose own programs have said more.
_OWN = (Reason.USER, Reason.PREPARATION)


async def last_error(ports: Ports, job: Job, observation: Observation) -> str:
    """The line, printable and without secrets; "" where there is none, or none at once. Never raises."""
    target = job.target
    if observation.state is not JobState.FAILED or observation.reason not in _OWN or target is None:
        return ""
    try:
        document = await ports.ledger.spec(job.id)
        # A breaker of its own: a share that hangs says nothing of the scheduler.
        async with calling(ports, target.engine, f"{target.cluster}/files", None), _patience():
            last = await read_end(ports, job, target, observation.reason, document)
    except SlipwayError:
        return ""
    except Exception:
        # The job chose names and content: an error in reading them costs this line only.
        log.exception("the last error of %s cannot be read", job.id, extra={"job": job.id})
        return ""
    return error_line(last.lines) if last else ""


@asynccontextmanager
async def _patience() -> AsyncIterator[None]:
    """A deadline that no breaker counts: one job may have written files by the thousand. Raises Busy."""
    try:
        async with asyncio.timeout(_PATIENCE):
            yield
    except TimeoutError as error:
        raise Busy("the files of the job take too long") from error
