"""Stories of jobs that people pause, resume and give another priority while others work."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

from shared.core.errors import Misuse, Unavailable
from shared.core.job import Job, JobState
from shared.core.ports import Ports
from shared.core.relations.priority import PRIORITIES
from shared.operate.waiting.pause import pause_job, resume_job
from shared.operate.waiting.priority import set_priority
from tests.crash.harness import Message, Run
from tests.crash.stories import HOOK, Story, message
from tests.crash.teams.team_stories import share
from tests.unit.world import job_json

#: Looks of a person until something is there to change, and until what they paused is resumed.
_LOOKS, _LASTS = 10, 3


def _waiting(run: Run) -> list[Job]:
    """The jobs that wait in the ledger, the youngest last."""
    waits = [job for job in run.jobs() if job.state is JobState.ACCEPTED]
    return sorted(waits, key=lambda job: (job.created, job.id))


def _ask(number: int, *, twin: bool = False) -> Message:
    return message({"spec": job_json(), "notify": [HOOK]}, f"m{number}", twin=twin)


def _line(run: Run) -> None:
    """Three jobs, one at a time, and the last message arrives again."""
    share(run, jobs=1)
    run.messages += [*(_ask(number) for number in range(3)), _ask(2)]


def person(run: Run, choose: Callable[[list[Job]], list[Job]], *, lasts: int = _LASTS) -> Message:
    """A person who pauses some of the jobs that wait, looks that none of them starts, and resumes them."""
    chosen: set[str] = set()
    looks = itertools.count()

    async def act(ports: Ports) -> None:
        number = next(looks)
        if not chosen and not (waits := choose(_waiting(run))):
            if number < _LOOKS:
                raise Unavailable("nothing waits yet")  # the person looks again
            return
        for job_id in sorted(chosen) or [job.id for job in waits]:
            if number <= _LOOKS + lasts and await _paused(ports, job_id):
                chosen.add(job_id)
        if chosen and number <= _LOOKS + lasts:
            raise Unavailable("it is not time to resume them")
        await _resume_all(run, ports)

    return Message(act)


async def _resume_all(run: Run, ports: Ports) -> None:
    """Resume what is paused, also by a request that was late, until every job has ended."""
    for job in run.jobs():
        if job.paused is not None:
            await resume_job(ports, job.id)
    if not all(job.state.terminal for job in run.jobs()):
        raise Unavailable("a late request may pause one again")


async def _paused(ports: Ports, job_id: str) -> bool:
    """Whether a job is paused by now: one that has begun is not."""
    try:
        return (await pause_job(ports, job_id)).job.paused is not None
    except Misuse:
        return False


def _paused_and_resumed(run: Run) -> None:
    """The first of the jobs that wait is paused for a while; the others pass it."""
    _line(run)
    run.messages.append(person(run, lambda waits: waits[:1]))


def _all_paused(run: Run) -> None:
    """Everything that waits is paused, also what is between two attempts."""
    _line(run)
    run.preempts = True
    run.messages.append(person(run, lambda waits: waits))


def _hurried(run: Run) -> None:
    """The last of the jobs that wait becomes the first."""
    _line(run)
    looks = itertools.count()

    async def act(ports: Ports) -> None:
        waits = _waiting(run)
        if len(waits) < 2 and next(looks) < _LOOKS:
            raise Unavailable("two do not wait yet")  # the person looks again
        for job in waits[-1:]:
            await set_priority(ports, job.id, "high")

    run.messages.append(Message(act))


def people_by_chance(run: Run, dice: random.Random) -> None:
    """A person changes random jobs at random moments, and resumes in the end what is paused."""
    acts = [dice.choice(("pause", "resume", *PRIORITIES)) for _ in range(dice.randint(2, 12))]
    picks = iter([dice.random() for _ in acts])
    remaining = iter(acts)

    async def act(ports: Ports) -> None:
        for one in remaining:
            waits = _waiting(run)
            if waits:
                await _done(ports, one, waits[int(next(picks) * len(waits))].id)
            raise Unavailable("there is more to do")
        await _resume_all(run, ports)

    run.messages.append(Message(act))


async def _done(ports: Ports, act: str, job_id: str) -> None:
    try:
        if act == "pause":
            await pause_job(ports, job_id)
        elif act == "resume":
            await resume_job(ports, job_id)
        else:
            await set_priority(ports, job_id, act)
    except Misuse:
        return  # it has begun, or ended


PAUSED = Story("a job that is paused and resumed", _paused_and_resumed, 3, 3)
ALL_PAUSED = Story("jobs that are paused and resumed, and lose their nodes", _all_paused, 3, 6)
HURRIED = Story("a job that becomes the first in its line", _hurried, 3, 3)
CHANGED = (
    PAUSED,
    ALL_PAUSED,
    HURRIED,
    Story("a job that is paused and resumed, with two passes at once", _paused_and_resumed, 3, 3, twice=True),
)
