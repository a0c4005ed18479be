"""desk: from what a door has to a draft, which is recorded, explained or only judged. Writes nothing.

Every door comes here, and leaves all of this to it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from shared.core.code.record import WORK
from shared.core.pacing.off_loop import off_loop
from shared.core.policy import Policy
from shared.core.ports import Ports
from shared.intake.candidate import Candidate
from shared.intake.desk.code import with_code
from shared.intake.desk.dependencies import with_dependencies
from shared.intake.desk.facts import cluster_for
from shared.intake.desk.fetch import with_document, with_scripts
from shared.intake.desk.prepare import Prepared, prepare
from shared.intake.desk.share import with_share
from shared.intake.message import Request
from shared.jobspec import MOUNTED, without_drop_mount

#: What is looked up for a request, in this order: each step sees what those before it have added.
STEPS: tuple[Callable[[Ports, Candidate], Awaitable[Request]], ...] = (
    with_document,
    with_share,
    with_code,
    with_scripts,
    with_dependencies,
)


@dataclass(frozen=True)
class Draft:
    """A candidate with all that was looked up for it, and its document, ready to be recorded."""

    candidate: Candidate
    prepared: Prepared


async def draft_of(ports: Ports, candidate: Candidate, *, live: bool = True) -> Draft:
    """The draft of a candidate from any door. Raises Unavailable, and Misuse (403) as `with_document` does.

    Without `live` only what the settings say counts: no ledger, storage or cluster is queried.
    """
    for step in STEPS if live else ():
        request = await step(ports, candidate)
        if request is not candidate.request:
            candidate = replace(candidate, request=request)
    return await draft_again(ports, candidate, live=live)


async def draft_again(ports: Ports, candidate: Candidate, *, live: bool = True) -> Draft:
    """The draft of a candidate that differs from that of another draft in its document only."""
    request = candidate.request
    cluster = await cluster_for(ports, request) if live else None
    prepared = await off_loop(
        request.size,
        prepare,
        ports,
        request,
        key=candidate.place.key,
        script=candidate.script,
        folder=candidate.folder,
        cluster=cluster,
    )
    return Draft(candidate, _frozen(ports.policy, request, prepared))


def _frozen(policy: Policy, request: Request, prepared: Prepared) -> Prepared:
    """What is recorded of a drop with code: it was judged with the mount in whose place the code is."""
    if prepared.document is None or request.code is None or request.code.origin == "upload":
        return prepared
    if request.code.origin == "folder":
        place = "in the working directory" if request.code.at == WORK else f"at {request.code.at}"
        note = f"code: the files of the folder are {place}, as they were accepted"
        return replace(prepared, notes=(*prepared.notes, note))
    document = without_drop_mount(prepared.document, policy.completion)
    at = f"code: the files of the drop are at {request.code.at}, as they were accepted"
    notes = tuple(at if note.startswith(MOUNTED) else note for note in prepared.notes)
    return replace(prepared, document=document, notes=notes)
