"""kept_code: before a record is made, the archive that it will name is made young, so that it is kept.

The order counts: the collector deletes an old archive that no record names, unless it was touched meanwhile.
"""

from __future__ import annotations

from shared.core.code.snapshots import Snapshots
from shared.core.errors import Misuse, Unavailable
from shared.core.refusals import REFUSALS
from shared.intake.candidate import ANSWERED, Candidate


async def keep_code(snapshots: Snapshots, candidate: Candidate) -> None:
    """Touch the archive of a job or a job sweep that is about to be recorded.

    The jobs of a sweep are covered by that of their sweep. Raises Misuse if there is no such archive: 404,
    and 410 for a job that runs again; Unavailable where no caller waits for an answer, so that the message
    comes again and is judged anew.
    """
    code = candidate.request.code
    if code is None or candidate.member is not None:
        return
    if code.bytes and await snapshots.touch(code.blob):
        return
    text = f"there is no code {code.sha256[:12]}… here"
    if candidate.door not in ANSWERED:
        raise Unavailable(text)
    if not candidate.rerun_of:
        raise Misuse(text, status=404, remedy=REFUSALS["SW116"].remedy)
    remedy = "send the folder again, with `slipway run`"
    raise Misuse(f"the code of {candidate.rerun_of} was deleted", status=410, remedy=remedy)
