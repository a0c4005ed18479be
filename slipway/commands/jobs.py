"""The short commands for a running Slipway (cancel, pause, resume), and the job that a command means."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from shared.core.identity import is_job_id
from slipway.client.service import Service, service
from slipway.client.watch import ENDED
from slipway.failure import Failure, finding_out
from slipway.screen import put, put_json
from slipway.times import moment

Answer = TypeVar("Answer")
#: How many jobs are searched for the beginning of an id.
_RECENT = 1000
#: The fewest characters of an id that name a job, or a sweep; and the form of a sweep's id.
SHORTEST = 5
SWEEP_ID = re.compile(r"s_[a-z2-7]{24}", re.ASCII)


def cancel(job: str, url: str, key: str, *, as_json: bool = False) -> int:
    """Ask for the end of a job."""

    async def ask(api: Service, job_id: str) -> int:
        show(await api.cancel(job_id), _cancelled, as_json=as_json)
        return 0

    return asking_about(job, ask, url, key)


def _cancelled(job: Mapping[str, Any]) -> list[str]:
    return [standing(job) + ("" if job["state"] in ENDED else ", and asked to end")]


def standing(job: Mapping[str, Any]) -> str:
    """A job and its state, in a line."""
    return f"{job['id']}  {job['name']}: {job['state']}"


def rejection(job: Mapping[str, Any]) -> str:
    """The message about a job that never ran because its document was rejected."""
    first = f": {job['lastError']}" if job.get("lastError") else ""
    return f"{job['id']} was rejected, so it never ran{first}; what is wrong: slipway show {job['id']}"


def unmeant(job: Mapping[str, Any]) -> str:
    """The message about a job, or a sweep, whose name commands read as something else; "" for any other."""
    name = str(job.get("name", ""))
    if name == "last":
        return f"`last` always means the latest, so use the id of this one: {job['id']}"
    if name.startswith(str(job["id"])[:2]):
        return f"{name} looks like an id, so use this one's own: {job['id']}"
    return ""


def pause(url: str, key: str, reason: str, *, as_json: bool = False) -> int:
    """Stop submissions; jobs are still accepted, and wait."""

    async def ask(api: Service) -> int:
        show(await api.pause(reason), _switch, as_json=as_json)
        return 0

    return asking(ask, url, key)


def resume(url: str, key: str, *, as_json: bool = False) -> int:
    """Resume submissions; 1 while the setting still stops them. Raises Failure with NOT_KNOWN."""

    async def ask(api: Service) -> int:
        answer = await api.resume()
        show(answer, _switch, as_json=as_json)
        return 1 if answer["paused"] else 0

    with finding_out():
        return asking(ask, url, key)


def _switch(answer: Mapping[str, Any]) -> list[str]:
    if not answer["paused"]:
        return ["submissions resume; the next sweep submits the waiting jobs"]
    reason = f": {answer['reason']}" if answer["reason"] else ""
    return [f"submissions are paused by {answer['by']}{reason}"]


def show(
    answer: Answer, rows: Callable[[Answer], Sequence[str]], *, as_json: bool, colour: bool = False
) -> None:
    """Print the answer of the API: as JSON, or as a table, whose rows may be coloured."""
    if as_json:
        put_json(answer)
    else:
        put(*rows(answer), colour=colour)


def why(job: Mapping[str, Any], *, utc: bool = False) -> str:
    """The reason for its wait and since when; otherwise why it failed, or its message, with its exit code."""
    if waiting := job.get("waiting"):
        return f"{waiting['text']} ({waiting['word']}, since {moment(waiting['since'], utc=utc)})"
    if job.get("lastError"):
        return str(job["lastError"])
    message, code = str(job.get("message", "")), job.get("exitCode")
    if job["state"] != "failed" or code is None or re.search(rf"\b{code}\b", message):
        return message
    return f"{message}, exit code {code}".removeprefix(", ")


def ended_as(job: Mapping[str, Any]) -> str:
    """A job and its state, in a line, with the reason unless it succeeded."""
    return standing(job) + (f": {why(job)}" if job["state"] != "succeeded" and why(job) else "")


def asking_about(job: str, ask: Callable[[Service, str], Awaitable[int]], url: str, key: str) -> int:
    """Run a query about one job, given its id, to its exit code. Raises Failure if no job matches."""

    async def with_id(api: Service) -> int:
        return await ask(api, await job_id(api, job))

    return asking(with_id, url, key)


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
            raise Failure("there is no job yet; submit one: slipway run, slipway submit")
    elif job.startswith("j_") and len(job) < SHORTEST:
        raise Failure(f"{job} is too short to mean one job; write at least {SHORTEST} characters of its id")
    elif job.startswith("j_"):
        latest = [one for one in (await api.jobs({}, _RECENT)).jobs if one["id"].startswith(job)]
        if len(latest) > 1:
            raise Failure(
                f"{job} begins several ids: {', '.join(one['id'] for one in latest[:5])}; write more of it"
            )
    else:
        # A * would match every name with that beginning, and so a job that the caller did not name.
        latest = [] if "*" in job else await _latest(api, {"name": job})
    if not latest and job.startswith("s_"):
        sweep = job[:80]
        raise Failure(
            f"{sweep} is not a job but a sweep; list its jobs (slipway jobs --sweep {sweep}), "
            f"show its progress (slipway sweep show {sweep}), or cancel all (slipway sweep cancel {sweep})"
        )
    if not latest:
        raise Failure(f"no job has the id or the name {job[:80]!r}; `slipway jobs` shows them")
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
            f"the latest such job belongs to {other['owner']}; if you mean it, use its id: {other['id']}"
        )
    return own[:1]


def asking(ask: Callable[[Service], Awaitable[int]], url: str, key: str) -> int:
    """Run a query of the API at a base URL, to its exit code."""

    async def whole() -> int:
        async with service(url, key) as api:
            return await ask(api)

    return asyncio.run(whole())
