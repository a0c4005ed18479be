"""`slipway cancel`: asks for the end of a job, or of all that fit."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from slipway.client.jobs.naming import with_sweep
from slipway.client.jobs.words import ENDED, standing, why
from slipway.client.service import Service
from slipway.commands.asking import asking, asking_about, show
from slipway.failure import USAGE, Failure
from slipway.terminal.screen import confirmed, remark

#: Most jobs that one request cancels, and jobs that a person is shown before it.
_MOST, _SHOWN = 500, 10


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
            raise Failure(f"more than {_MOST} jobs fit; name more conditions, such as --until")
        if listing.jobs and not yes:
            _agreed(listing.jobs)
        answer: Mapping[str, Any] = {"jobs": [], "refused": []}
        if listing.jobs:
            answer = await api.cancel_jobs(_as_listed(chosen, listing.jobs), len(listing.jobs))
        show(answer, _cancelled_jobs, as_json=as_json)
        return 1 if answer["refused"] else 0

    return asking(ask, url, key)


def _as_listed(conditions: Mapping[str, str], jobs: Sequence[Mapping[str, Any]]) -> Mapping[str, str]:
    """The conditions, which a job that came after these does not fit: the number alone may stay the same."""
    newest = max(datetime.fromisoformat(job["createdAt"]) for job in jobs)
    return {"until": (newest + timedelta(microseconds=1)).isoformat(), **conditions}


def _agreed(jobs: Sequence[Mapping[str, Any]]) -> None:
    """Raise Failure unless a person who saw the jobs agrees."""
    remark("\n".join(map(standing, jobs[:_SHOWN])))
    if len(jobs) > _SHOWN:
        remark(f"… and {len(jobs) - _SHOWN} more")
    if not confirmed(f"cancel {_number(len(jobs))}?"):
        raise Failure(
            f"{_number(len(jobs))} would be cancelled, and none was; add --yes to cancel them", USAGE
        )


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
