"""fetch: reads what a request only names: the document of a `specBlob`, and facts about its scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from shared.core.caller import Caller
from shared.core.errors import Misuse, SlipwayError
from shared.core.messages import digest
from shared.core.pacing.off_loop import off_loop
from shared.core.ports import Drops, Ports
from shared.core.refusals import refused
from shared.intake.candidate import Candidate
from shared.intake.message import Request, straighten
from shared.jobspec import Source, complete, read_through, scripts_wanted
from shared.lifecycle.current_teams import current_teams, readable_beside

#: How many scripts of a job are read, and up to which size in bytes; they only cause warnings.
_SCRIPTS = 10
_LONGEST = 1 << 20


async def with_document(ports: Ports, candidate: Candidate) -> Request:
    """The request with the document that its `specBlob` names.

    Raises Unavailable, and Misuse (403) if the document is in the drop of another caller.
    """
    request = candidate.request
    if request.document is not None or not request.envelope.spec_blob:
        return request
    reference, limit = request.envelope.spec_blob, ports.policy.limits.max_bytes
    is_own = await _is_own(ports, candidate, reference)
    try:
        data = await ports.drops.read_reference(reference, limit=limit) if is_own else None
    except Misuse as error:
        problem = refused("SW106", "/specBlob", str(error), error.remedy)
        return replace(request, problems=(*request.problems, problem))
    if data is None:
        problem = refused("SW106", "/specBlob", f"there is no blob {reference[:200]}")
        return replace(request, problems=(*request.problems, problem))
    source = Source(data, reference)
    document, problems = await off_loop(len(data), read_through, source, ports.policy.limits)
    # The content is part of the payload: the same message with another content of the blob is another
    # request.
    payload = digest([request.payload, digest(document)])
    around = request.text
    problems_around = around.locate(request.problems) if around else request.problems
    request = replace(
        request,
        document=document,
        payload=payload,
        pointer="",
        problems=(*problems_around, *problems),
        readable=not problems,
        text=source,
        around=around,
    )
    return straighten(request)


async def _is_own(ports: Ports, candidate: Candidate, reference: str) -> bool:
    """False where a drop names a dropped file of another team, which nothing may show.

    Raises Misuse (403) for a caller who may not submit for the team of its folder: it may hold secrets.
    """
    container, _, path = reference.partition("/")
    if container != ports.policy.drop_container:
        return True
    if not candidate.who.acts_for((await current_teams(ports)).of_drop(path)):
        raise Misuse(
            "specBlob names a dropped file: it takes a caller who may submit for the team of its folder",
            status=403,
            remedy="send the document itself, as `spec`",
        )
    return candidate.folder is None or (await readable_beside(ports, candidate.folder))(path)


async def with_scripts(ports: Ports, candidate: Candidate) -> Request:
    """The request with facts about the scripts that it names in the drop container.

    The facts: whether they exist, and their line endings. Of folders of teams that neither the job nor its
    caller is in there are none, so that nothing shows what lies there.
    """
    request, who = candidate.request, candidate.who
    if candidate.has_read_scripts:
        return request
    container, folder = ports.policy.drop_container, candidate.folder or ""
    document = request.document
    # A cheap check of the raw document: most jobs mount no drop container.
    if document is None or not (folder or scripts_wanted(document)):
        return request
    defaults = ports.policy.completion
    completed, _ = complete(document, defaults)
    scripts = scripts_wanted(completed, container=container, account=defaults.drop_account)
    # No name begins with a slash, so without a folder no script is its own.
    names = [name for name in scripts if not name.startswith(f"{folder}/")]
    names = (await _visible(ports, request, who, names))[:_SCRIPTS]
    contents = dict(
        zip(names, await asyncio.gather(*(_read(ports.drops, name) for name in names)), strict=True)
    )
    return replace(
        request,
        absent=frozenset(name for name, content in contents.items() if content is None),
        crlf=frozenset(name for name, content in contents.items() if content and b"\r\n" in content),
    )


async def _visible(ports: Ports, request: Request, who: Caller, names: Sequence[str]) -> list[str]:
    """The names without those in folders of other teams. A door, which is not a person, sees all."""
    teams = await current_teams(ports)
    if not teams.teams or (who.id and who.sees_all):
        return [*names]
    own = {request.share.team, *who.teams}
    return [name for name in names if teams.of_drop(name) in own]


async def _read(drops: Drops, name: str) -> bytes | None:
    """The content; None when there is no such blob.

    Empty if it cannot be read; then it is not checked.
    """
    try:
        content = await drops.read(name, limit=_LONGEST)
    except SlipwayError:
        return b""
    return content.data if content else None
