"""Finds a sweep by its id, the beginning of it, its name (then the latest), or `last`."""

import re

from slipway.client.service import Service
from slipway.commands.jobs import SHORTEST, SWEEP_ID
from slipway.failure import Failure

#: How many jobs are searched for those of the sweep.
_RECENT = 1000
#: The end of the name of a job of a sweep; and the characters of a sweep's name that its jobs' names keep.
_NUMBER = re.compile(r"-\d{1,3}", re.ASCII)
_WHOLE = 59


async def sweep_id(api: Service, sweep: str) -> str:
    """The id of a sweep; an id costs no call. Raises Failure if none matches, or more than one."""
    if SWEEP_ID.fullmatch(sweep):
        return sweep
    begins = sweep.startswith("s_") and len(sweep) >= SHORTEST
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
        raise Failure(f"{sweep} begins several ids: {', '.join(fitting[:5])}; write more of it")
    if not fitting:
        raise Failure(
            f"no sweep of the latest {_RECENT:,} jobs has the id or the name {sweep[:80]!r}; "
            "name it by its whole id, s_… of its answer"
        )
    return fitting[0]


def _is_of(job: str, sweep: str) -> bool:
    """Whether a job's name is that of a sweep, or the beginning of a long one, and a number."""
    name, number = job[: job.rfind("-")], job[job.rfind("-") :]
    if not _NUMBER.fullmatch(number):
        return False
    return name == sweep or (len(name) >= _WHOLE and sweep.startswith(name))
