"""teams: operators read and replace the document of teams."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from shared.core.caller import Caller
from shared.core.errors import Misuse, Unreadable
from shared.core.pacing.off_loop import off_loop
from shared.core.ports import Ports
from shared.core.teams.document import MAX_BYTES, Quota, Teams, changes, version_of
from shared.core.teams.reading import read_teams
from shared.core.teams.teams_store import TeamsStore, UnreadableTeams
from shared.core.teams.use import TeamUse
from shared.jobspec import Limits, Problem, Source, read_through
from shared.lifecycle.current_teams import current_teams, forget_teams

log = logging.getLogger(__name__)

_NO_TEAMS = Teams()
#: The name of the text in problems.
_FILE = "the document of teams"


@dataclass(frozen=True)
class TeamsResult:
    """The document after a request, with the actual or planned changes; or its problems."""

    teams: Teams
    #: what the jobs of each team with a quota use of it now, as far as that can be read
    use: Mapping[str, TeamUse] = field(default_factory=dict)
    #: team → why its use cannot be read
    unknown: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def version(self) -> str:
        """A version that the next change can name, so that it overwrites no other change."""
        return version_of(self.teams)


async def teams(ports: Ports) -> TeamsResult:
    """The document, empty if there is none. Costs a point read for it and for each team with a quota."""
    stored = await ports.teams.get()
    document = stored.teams if stored is not None else _NO_TEAMS
    uses = await _uses(ports.teams, document, document.teams)
    return TeamsResult(document, uses.readable, unknown=uses.unknown)


@dataclass(frozen=True)
class TeamUsage:
    """What a team may have, and what its jobs have; None for a team without a quota, which is not counted."""

    team: str
    quota: Quota | None
    use: TeamUse | None
    #: why its use cannot be read; "" if it can
    unknown: str = ""


async def usage(ports: Ports, who: Caller) -> list[TeamUsage]:
    """The teams of a caller, or all of them for one who sees every job; a point read for each quota."""
    document = await current_teams(ports)
    names = [name for name in document.teams if who.sees_all or name in who.teams]
    uses = await _uses(ports.teams, document, names)
    return [
        TeamUsage(name, document.teams[name].quota, uses.readable.get(name), uses.unknown.get(name, ""))
        for name in names
    ]


class _Uses(NamedTuple):
    """The uses of teams, and of others why they cannot be read."""

    readable: dict[str, TeamUse]
    unknown: dict[str, str]


async def _uses(teams: TeamsStore, document: Teams, names: Iterable[str]) -> _Uses:
    limited = [name for name in names if document.teams[name].quota is not None]
    uses = _Uses({}, {})

    async def one(team: str) -> None:
        try:
            uses.readable[team] = await teams.use(team)
        except Unreadable as error:
            uses.unknown[team] = f"{error}; {error.remedy}"

    await asyncio.gather(*map(one, limited))
    return uses


async def replace_teams(
    ports: Ports, text: bytes, *, by: str, version: str = "", dry_run: bool = False
) -> TeamsResult:
    """Replace the document; with `dry_run`, only show the changes.

    `version`: that of the document that the new one was made from, "" for any, also one that cannot be read.
    Raises Misuse (412) if it is another, unless that is the new document already: then the answer to the same
    request was lost. A document with problems changes nothing.
    """
    source = Source(text, _FILE)
    document, problems = await off_loop(len(text), read_through, source, Limits(max_bytes=MAX_BYTES))
    before, etag, lost = await _present(ports.teams, version)
    if document is None or problems:
        return TeamsResult(before, problems=source.locate(problems))
    after, problems = read_teams(
        document, ports.engines.clusters.keys(), ports.policy.own_containers, ports.secrets.keys()
    )
    if after is None:
        return TeamsResult(before, problems=source.locate(problems))
    result = TeamsResult(after, changes=(*lost, *changes(before, after)))
    if result.changes and version and version != version_of(before):
        raise _changed()
    if not dry_run and result.changes:
        await _write(ports, after, etag)
        log.warning("teams are changed by %s: %s", by, "; ".join(result.changes))
    return result


class _Present(NamedTuple):
    """The document that is replaced, its ETag, and clauses on what is lost with it."""

    teams: Teams
    etag: str
    lost: tuple[str, ...] = ()


async def _present(teams: TeamsStore, version: str) -> _Present:
    """The present document. Raises UnreadableTeams where a version is named, which that may not have."""
    try:
        stored = await teams.get()
    except UnreadableTeams as error:
        if version:
            raise
        return _Present(_NO_TEAMS, error.etag, ("the document that could not be read is replaced",))
    return _Present(stored.teams, stored.etag) if stored is not None else _Present(_NO_TEAMS, "")


async def _write(ports: Ports, after: Teams, etag: str) -> None:
    if await ports.teams.put(after, etag) is None:
        raise _changed()
    forget_teams(ports.memo)


def _changed() -> Misuse:
    return Misuse(
        "the teams have changed since this document was made",
        status=412,
        remedy="get them again (`slipway teams show`), and repeat the change",
    )
