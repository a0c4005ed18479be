"""code: looks up the archive that a request names by its digest, in the scope of its caller only.

A digest stands in receipts and logs. So it opens an archive only for those who may have
sent it, and a rerun takes the name of the archive from the record.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from shared.core.caller import Caller
from shared.core.code.record import Code
from shared.core.ports import Ports
from shared.core.refusals import refused
from shared.intake.candidate import ANSWERED, Candidate
from shared.intake.message import Request
from shared.jobspec import Problem


def scope_of(who: Caller) -> str:
    """The folder of a caller's archives: that of the team, if they are in one, else their own.

    A member of several teams has one of their own, so that none of these sees what another one runs.
    """
    if len(who.teams) == 1:
        return f"team-{next(iter(who.teams))}"
    return f"caller-{hashlib.sha256(who.id.encode()).hexdigest()}" if who.id else "all"


async def with_code(ports: Ports, candidate: Candidate) -> Request:
    """The request with the archive that it names, or a problem. Costs a small request for one that names it.

    Code that is not there yet is a warning where a caller waits for the answer: a request may be explained
    before its code is sent, and is refused when it is to be recorded. Raises Unavailable.
    """
    request = candidate.request
    named = request.envelope.code
    if named is None:
        return request
    at = f"{request.envelope_at}/code"
    if candidate.drop is not None:
        return _plus(request, refused("SW116", at, "a dropped folder brings its own code", "remove code"))
    if named.sha256 is None:  # a folder, which its door has looked up
        return request
    scope, most = scope_of(candidate.who), ports.policy.code_mib
    code = Code(scope=scope, sha256=named.sha256, bytes=0, at=named.at)
    stored = await ports.snapshots.find(code.blob)
    size = stored.size if stored is not None and stored.is_readable else 0
    request = replace(request, code=code.model_copy(update={"bytes": size}))
    if size > most << 20:
        return _plus(request, refused("SW116", at, too_large(size, most), LEAVE_OUT))
    if not size:
        lacking = refused("SW116", at, f"there is no code {named.sha256[:12]}… here")
        waits = candidate.door in ANSWERED
        return _plus(request, replace(lacking, severity="warning") if waits else lacking)
    return request


def _plus(request: Request, problem: Problem) -> Request:
    return replace(request, problems=(*request.problems, problem))


#: What to do about code above the limit.
LEAVE_OUT = "leave large files out (.slipwayignore), or send them with `slipway data put` and mount them"


def too_large(size: int, mebibytes: int) -> str:
    """What is said of an archive above the limit."""
    return f"the code has {size / (1 << 20):.1f} MiB, and {mebibytes} MiB are allowed"
