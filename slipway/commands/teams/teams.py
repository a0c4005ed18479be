"""The commands for teams: show, usage, apply."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipway.client.service import Service
from slipway.commands.asking import asking, show
from slipway.failure import Failure
from slipway.terminal.screen import put, put_json, remark, table

if TYPE_CHECKING:
    from slipway.client import shapes

_NONE: Mapping[str, str] = {}
#: Parts of a use, and the limits of a quota on them.
_PARTS = {"jobs": "jobs", "nodes": "nodes", "gpus": "gpus", "gpuHours": "gpuHours", "cost": "budget"}
#: The part of an amount that active jobs may still use.
_RESERVED = {"gpuHours": "reservedGpuHours", "cost": "reservedCost"}


def show_teams(url: str, key: str, *, as_json: bool = False) -> int:
    """Print a table of the teams, or the document as JSON."""

    async def ask(api: Service) -> int:
        answer = await api.teams()
        if as_json:
            put_json(answer["document"])
        else:
            put(*rows(answer["document"], answer["use"], answer.get("errors", {})))
        return 0

    return asking(ask, url, key)


def apply_teams(
    file: Path, url: str, key: str, *, dry_run: bool = False, as_json: bool = False, force: bool = False
) -> int:
    """Replace the document by that of a file, unless it changes meanwhile.

    `force`: replace any document, without reading it, since it may be unreadable.
    """
    try:
        text = file.read_bytes()
    except OSError as error:
        raise Failure(f"{file}: {error.strerror or error}") from None

    async def ask(api: Service) -> int:
        before = None if force else await api.teams()
        version = str(before.get("version", "")) if before else ""
        result = await api.put_teams(text, version, dry_run=dry_run, file=str(file))
        result["changes"] = result["changes"] or _changes_before(before, result)
        if as_json:
            put_json(result)
            return 0
        put(*(result["changes"] or ["nothing changes"]))
        if force and api.repeated and not result["changes"]:
            remark(f"the teams are those of {file}; the answer that named the changes was lost")
        if dry_run and result["changes"]:
            put("nothing was written; run it again without --dry-run")
        return 0

    return asking(ask, url, key)


def _changes_before(before: shapes.TeamsVersion | None, result: shapes.TeamsVersion) -> list[str]:
    """What the request changed when its first answer was lost: then the second one sees no change."""
    from shared.core.teams.document import Teams, changes

    if before is None:
        return []
    try:
        documents = [Teams.model_validate(one["document"]) for one in (before, result)]
    except (KeyError, ValueError):
        return []
    return list(changes(*documents))


def usage(url: str, key: str, by: str = "", *, as_json: bool = False) -> int:
    """Print how much of their quotas one's own teams use, or all teams for a caller who sees every job.

    `by`: also what each owner, or each experiment, used.
    """

    async def ask(api: Service) -> int:
        answer = await api.usage(by)
        show(answer, usage_lines, as_json=as_json)
        return 0

    return asking(ask, url, key)


def usage_lines(answer: Mapping[str, Any]) -> list[str]:
    """A row for each team."""
    teams: list[Mapping[str, Any]] = answer["teams"]
    shares = _share_lines(answer) if "shares" in answer else []
    if not teams:
        return shares or ["you are in no team of this deployment"]
    head = ("team", "jobs", "nodes", "GPUs", "GPU-hours", f"cost in {answer['currency']}", "waiting")
    cells = [
        (
            one["name"],
            *(_share(one, part, limit) for part, limit in _PARTS.items()),
            str(one["use"]["waiting"]) if one["use"] else "",
        )
        for one in teams
    ]
    unknown = [f"the use of {one['name']} is not known: {one['error']}" for one in teams if one.get("error")]
    return [
        *table([head, *cells]),
        f"GPU-hours and cost are those of {answer['month']} (UTC); reserved: what active jobs may still use",
        *unknown,
        *(["", *shares] if shares else []),
    ]


def _share_lines(answer: Mapping[str, Any]) -> list[str]:
    """A row for each owner, or each experiment."""
    shares = answer["shares"]
    name = "experiment" if any("experiment" in one for one in shares) else "owner"
    head = (name, "team", "jobs", "node-hours", "GPU-hours", f"cost in {answer['currency']}", "reserved")
    lines = [
        (
            one.get(name, "(none)"),
            one["team"] or "",
            f"{one['jobs']:,}",
            *(f"{one[part]:,g}" for part in ("nodeHours", "gpuHours", "cost")),
            f"{one['reservedGpuHours']:,g} GPU-hours of {one['atWork']} jobs" if one["atWork"] else "",
        )
        for one in shares
    ]
    return table([head, *lines]) if lines else [f"no job was at work in {answer['month']} (UTC)"]


def _share(team: Mapping[str, Any], part: str, limit: str) -> str:
    use, quota = team["use"], team["quota"]
    if not use:
        return ("not known" if quota else "no quota") if part == "jobs" else ""
    most = (quota or {}).get(limit)
    notes = ["no quota"] if part == "jobs" and quota is None else []
    notes += [f"{use[one]} {one}" for one in ("borrowed", "lent") if part == "jobs" and use.get(one)]
    if reserved := use.get(_RESERVED.get(part, "")):
        notes.append(f"{reserved:,g} reserved")
    text = f"{use[part]:,g}" + (f" of {most:,g}" if most is not None else "")
    return f"{text} ({', '.join(notes)})" if notes else text


def rows(
    document: Mapping[str, Any], use: Mapping[str, shapes.TeamUse], errors: Mapping[str, str] = _NONE
) -> list[str]:
    """The lines of a table of teams, each with the use of its quota, and why some are not known."""
    teams: Mapping[str, Mapping[str, Any]] = document.get("teams", {})
    if not teams:
        return ["there are no teams: every caller sees their own jobs"]
    default = document.get("default")
    lines = [
        (
            f"{name} (default)" if name == default else name,
            str(len(team.get("members", ()))),
            ", ".join(team["clusters"]) or "none" if "clusters" in team else "all",
            ", ".join(team.get("folders", ())),
            "not known" if name in errors else _quota(team.get("quota", {}), use.get(name, {})),
        )
        for name, team in teams.items()
    ]
    unknown = [f"the use of {name} is not known: {why}" for name, why in errors.items()]
    return [*table([("team", "members", "clusters", "folders", "quota"), *lines]), *unknown]


def _quota(quota: Mapping[str, Any], use: Mapping[str, Any]) -> str:
    amounts = {limit: use.get(part, 0) for part, limit in _PARTS.items()}
    person = quota.get("perPerson") or {}
    each = [f"{most:,g} {name} for each person" for name, most in person.items()]
    whole = (
        name
        if most is True
        else f"{amounts[name]:,g} of {most:,g} {name}"
        if name in amounts
        else f"{name} {most:,g}"
        for name, most in quota.items()
        if most is not False and name != "perPerson"
    )
    return ", ".join([*whole, *each])
