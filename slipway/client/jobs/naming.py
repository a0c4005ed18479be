"""The job, or the sweep, that a person means: by its id, the beginning of it, its name, or `last`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shared.core.identity import is_job_id, is_sweep_id
from slipway.failure import UNKNOWN, Failure

if TYPE_CHECKING:
    from slipway.client.service import Service

#: How many jobs are searched for the beginning of an id.
_RECENT = 1000
#: The fewest characters of an id that name a job, or a sweep.
_SHORTEST = 5


def unmeant(job: Mapping[str, Any]) -> str:
    """The message about a job, or a sweep, whose name commands read as something else; "" for any other."""
    name = str(job.get("name", ""))
    if name == "last":
        return f"`last` always means the latest, so use the id of this one: {job['id']}"
    if name.startswith(str(job["id"])[:2]):
        return f"{name} looks like an id, so use this one's own: {job['id']}"
    return ""


async def job_id(api: Service, job: str) -> str:
    """The id of a job by its id, by the beginning of it, by its name (then the latest), or by `last`.

    `last` is the latest job, even if a job has that name. A job of another caller can be named only by its
    id. Raises Failure; for a sweep, with what to do instead.
    """
    if is_job_id(job):
        return job
    if job == "last":
        latest = await _latest(api, {})
        if not latest:
            raise Failure("there is no job yet; submit one: slipway run, slipway submit", UNKNOWN)
    elif job.startswith("j_") and len(job) < _SHORTEST:
        raise Failure(
            f"{job} is too short to mean one job; write at least {_SHORTEST} characters of its id", UNKNOWN
        )
    elif job.startswith("j_"):
        latest = [one for one in (await api.jobs({}, _RECENT)).jobs if one["id"].startswith(job)]
        if len(latest) > 1:
            raise Failure(
                f"{job} begins several ids: {', '.join(one['id'] for one in latest[:5])}; write more of it",
                UNKNOWN,
            )
    else:
        # A * would match every name with that beginning, and so a job that the caller did not name.
        latest = [] if "*" in job else await _latest(api, {"name": job})
    if not latest and job.startswith("s_"):
        sweep = job[:80]
        raise Failure(
            f"{sweep} is not a job but a sweep; list its jobs (slipway jobs --sweep {sweep}), "
            f"show its progress (slipway sweep show {sweep}), or cancel all (slipway sweep cancel {sweep})",
            UNKNOWN,
        )
    if not latest:
        raise Failure(f"no job has the id or the name {job[:80]!r}; `slipway jobs` shows them", UNKNOWN)
    return str(latest[0]["id"])


async def _latest(api: Service, conditions: Mapping[str, str]) -> list[dict[str, Any]]:
    """The latest job, unless it belongs to another caller, as a list; empty if there is no job.

    Raises Failure if all belong to others: a caller who may change them could change a job by mistake.
    """
    newest = (await api.jobs(conditions, 1)).jobs
    if not newest or not newest[0].get("owner"):
        return newest
    caller = await api.caller_id()
    if caller in (None, newest[0]["owner"]):
        return newest
    recent = (await api.jobs(conditions, _RECENT)).jobs
    own = [one for one in recent if one.get("owner", caller) == caller]
    if not own:
        other = newest[0]
        raise Failure(
            f"the latest such job belongs to {other['owner']}; if you mean it, use its id: {other['id']}",
            UNKNOWN,
        )
    return own[:1]


#: The end of the name of a job of a sweep; and the characters of a sweep's name that its jobs' names keep.
_NUMBER, _WHOLE = re.compile(r"-\d{1,3}", re.ASCII), 59


async def sweep_id(api: Service, sweep: str) -> str:
    """The id of a sweep; an id costs no call. Raises Failure if none matches, or more than one."""
    if is_sweep_id(sweep):
        return sweep
    begins = sweep.startswith("s_") and len(sweep) >= _SHORTEST
    conditions = {} if begins or sweep == "last" else {"name": f"{sweep.replace('*', '')[:_WHOLE]}*"}
    jobs = [job for job in (await api.jobs(conditions, _RECENT)).jobs if job.get("sweep")]
    if not begins and any(job.get("owner") for job in jobs) and (caller := await api.caller_id()):
        # A caller who may cancel the sweeps of others has to use their ids.
        jobs = [job for job in jobs if job.get("owner", caller) == caller]
    latest = list(dict.fromkeys(str(job["sweep"]["id"]) for job in jobs))
    if sweep == "last":
        fitting = latest[:1]
    elif begins:
        fitting = [one for one in latest if one.startswith(sweep)]
    else:
        named = [job for job in jobs if _is_of(job["name"], sweep)]
        fitting = [str(job["sweep"]["id"]) for job in named][:1]
    if len(fitting) > 1:
        raise Failure(f"{sweep} begins several ids: {', '.join(fitting[:5])}; write more of it", UNKNOWN)
    if not fitting:
        raise Failure(
            f"no sweep of the latest {_RECENT:,} jobs has the id or the name {sweep[:80]!r}; "
            "name it by its whole id, s_… of its answer",
            UNKNOWN,
        )
    return fitting[0]


async def with_sweep(api: Service, conditions: Mapping[str, str]) -> dict[str, str]:
    """The conditions of a list with the id of the sweep that they name, if any."""
    sweep = {"sweep": await sweep_id(api, conditions["sweep"])} if "sweep" in conditions else {}
    return {**conditions, **sweep}


def _is_of(job: str, sweep: str) -> bool:
    """Whether a job's name is that of a sweep, or the beginning of a long one, and a number."""
    name, number = job[: job.rfind("-")], job[job.rfind("-") :]
    if not _NUMBER.fullmatch(number):
        return False
    return name == sweep or (len(name) >= _WHOLE and sweep.startswith(name))
