"""other_code: an archive whose bytes do not have its digest is deleted, so that it can be sent again.

No job runs it, since each node compares. But its name is taken, and each client that has the true bytes would
be answered that they are known. The word of a node deletes nothing: the app reads the archive itself.
"""

from __future__ import annotations

import logging

from shared.core.code.digest import digest_of
from shared.core.code.snapshots import Snapshots
from shared.core.engine import Observation
from shared.core.job import Job, Reason

log = logging.getLogger(__name__)

_REMOVED = "what storage had was not the code that was accepted, and has been deleted: send the job again"


async def without_other_code(snapshots: Snapshots, job: Job, observation: Observation) -> Observation:
    """The end of an attempt whose node found other bytes; final once they have been deleted."""
    if job.code is None or not observation.is_other_code:
        return observation
    blob = job.code.blob
    stored = await snapshots.find(blob)
    if stored is None:
        return observation
    # What a client sends there may have any length: one of another length is not read.
    is_whole = stored.is_readable and stored.size == job.code.bytes
    if is_whole and await digest_of(snapshots, blob) == job.code.sha256:
        return observation
    log.error("the archive %s has other bytes than its name says", blob, extra={"job": job.id})
    if not await snapshots.delete(blob, stored.etag):
        return observation
    return observation._replace(reason=Reason.PREPARATION, message=_REMOVED)
