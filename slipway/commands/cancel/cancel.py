"""`slipway cancel`: asks for the end of a job, or of all that fit."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from slipway.client.jobs.naming import with_sweep
from slipway.client.jobs.words import ENDED, standing, why
from slipway.client.service import Service
from slipway.commands.asking import asking, asking_about, refuse_unless_agreed, show
from slipway.failure import Failure
from slipway.terminal.screen import remark

Job = Mapping[str, Any]
#: Most jobs of one request, and most of one command.
_OF_ONE, _MOST = 500, 10_000


def cancel(job: str, url: str, key: str, *, as_json: bool) -> int:
    """Ask for the end of one job."""

    async def ask(api: Service, job_id: str) -> int:
        show(await api.cancel(job_id), _cancelled, as_json=as_json)
        return 0

    return asking_about(job, ask, url, key)


def cancel_all(conditions: Mapping[str, str], url: str, key: str, *, yes: bool, as_json: bool) -> int:
    """Ask for the ends of all jobs that fit, after a person agreed; 1 if one could not be cancelled.

    Raises Failure where no person can be asked.
    """

    async def ask(api: Service) -> int:
        chosen = {"state": "active", **await with_sweep(api, conditions)}
        listing = await api.jobs(chosen, _MOST + 1)
        if len(listing.jobs) > _MOST:
            raise Failure(f"more than {_MOST:,} jobs fit; name more conditions, such as --until")
        if listing.jobs and not yes:
            number = _number(len(listing.jobs))
            refusal = f"{number} would be cancelled, and none was; add --yes to cancel them"
            refuse_unless_agreed([*map(standing, listing.jobs)], f"cancel {number}?", refusal)
        answer = await _end(api, chosen, listing.jobs)
        show(answer, _cancelled_jobs, as_json=as_json)
        return 1 if answer["refused"] else 0

    return asking(ask, url, key)


async def _end(api: Service, conditions: Mapping[str, str], jobs: Sequence[Job]) -> dict[str, list[Any]]:
    """Cancel these jobs, which fit, by as many requests as it takes. Raises Failure where others fit now."""
    answer: dict[str, list[Any]] = {"jobs": [], "refused": []}
    # The newest first, so that waiting jobs do not take the places of those that end.
    for first in range(0, len(jobs), _OF_ONE):
        part = jobs[first : first + _OF_ONE]
        others = len(jobs) - first - len(part)
        narrowed = _as_listed(conditions, part)
        if first:  # some have ended by themselves meanwhile
            now = (await api.jobs(narrowed, _OF_ONE + 1)).jobs
            if not {job["id"] for job in now} <= {job["id"] for job in part}:
                raise Failure("other jobs fit now; the newest ones are cancelled: send the command again")
            part = now
        if part:
            ended = await api.cancel_jobs(narrowed, len(part), partial(_say, others))
            answer = {name: [*answer[name], *ended[name]] for name in ("jobs", "refused")}
        if others:
            _say(others, 0)
    return answer


def _as_listed(conditions: Mapping[str, str], jobs: Sequence[Job]) -> Mapping[str, str]:
    """The conditions, narrowed to the time of these jobs.

    A job that came later does not fit: the number alone could stay the same.
    """
    created = [datetime.fromisoformat(job["createdAt"]) for job in jobs]
    until = max(created) + timedelta(microseconds=1)
    return {**conditions, "since": min(created).isoformat(), "until": until.isoformat()}


def _say(others: int, rest: int) -> None:
    remark(f"{_number(others + rest)} left")


def _cancelled(job: Mapping[str, Any]) -> list[str]:
    if job["state"] in ENDED:
        return [standing(job)]
    return [f"{standing(job)}: {why(job)}" if job.get("waiting") else f"{standing(job)}, and asked to end"]


def _cancelled_jobs(answer: Mapping[str, Any]) -> list[str]:
    jobs, refused = answer["jobs"], answer["refused"]
    if not jobs and not refused:
        return ["no job that fits these conditions is active"]
    return [
        *(standing(job) + ("" if job["state"] in ENDED else ", and asked to end") for job in jobs),
        *(f"{job['id']}  {job['name']}: not cancelled: {job['why']}" for job in refused),
    ]


def _number(jobs: int) -> str:
    return f"{jobs} jobs" if jobs > 1 else "1 job"
