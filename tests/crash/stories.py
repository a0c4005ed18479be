"""The stories of the harness: inputs, with their expected results."""

from __future__ import annotations

import itertools
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from shared.core.engine import Why
from shared.core.errors import Unavailable
from shared.core.identity import job_id
from shared.core.ledger.dead import dead_id
from shared.core.messages import ENDED
from shared.core.ports import Ports, Posted
from shared.intake.arrive import blob_arrived, message_arrived
from shared.intake.candidate import key_of
from shared.intake.dead_letter import bury
from shared.operate.ends.cancel import cancel
from shared.operate.job_sweeps import cancel_sweep
from shared.operate.redeliver import redeliver_event
from shared.operate.redrive import redrive
from tests.crash.chaos import Fault
from tests.crash.harness import Message, Run
from tests.crash.invariants.requeued_jobs import Requeues
from tests.crash.invariants.swept_jobs import sweeps
from tests.unit.world import job_json

HOOK = {"url": "https://hooks.example.com/slipway"}


@dataclass(frozen=True)
class Story:
    """An input, and its expected result."""

    name: str
    begin: Callable[[Run], None]
    accepted: int = 1
    #: None if that depends on the faults
    started: int | None = 1
    #: one process gets messages that arrive together
    together: bool = False
    #: two processes make a pass at once, and every third timer is missed
    twice: bool = False


def message(document: Any, message_id: str, *, twin: bool = False) -> Message:
    """A job message, given to a worker until it is acknowledged."""
    body = json.dumps(document).encode()
    return Message(lambda ports: message_arrived(ports, body, message_id), twin)


def _one(run: Run) -> None:
    run.messages.append(message({"spec": job_json(), "notify": [HOOK]}, "m1"))


def _twice_at_once(run: Run) -> None:
    run.messages += [message({"spec": job_json(), "notify": [HOOK]}, "m1", twin=True) for _ in range(2)]


def _four_at_once(run: Run) -> None:
    run.messages += [
        message({"spec": job_json(), "notify": [HOOK]}, name, twin=True) for name in ("m1", "m2", "m3", "m1")
    ]


def _three(run: Run) -> None:
    run.messages += [message({"spec": job_json(), "notify": [HOOK]}, name) for name in ("m1", "m2", "m3")]


def _again_later(run: Run) -> None:
    again = message({"spec": job_json(), "notify": [HOOK]}, "m1")

    async def late(ports: Any) -> None:
        # A duplicate that arrives when the job may have ended.
        run.messages.append(again)

    run.messages += [again, Message(late)]


def _bad(run: Run) -> None:
    run.rejects = 1
    run.messages.append(message({"spec": job_json(nodeCount=-1), "notify": [HOOK]}, "m1"))


def _drop(run: Run) -> None:
    script = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/d/train.py"
    run.world.drops.upload("d/train.py", b"print(1)")
    document = job_json(customToolkitSettings={"commandLine": f"python {script}"})
    run.world.drops.upload("d/job.json", json.dumps(document).encode())
    run.world.drops.upload("d/slipway.json", json.dumps({"notify": [HOOK]}).encode())
    for name in ("d/train.py", "d/job.json"):
        run.messages.append(Message(_blob(name)))


def _drop_without_event(run: Run) -> None:
    _drop(run)
    run.messages.clear()
    run.unheard = 1


def _blob(name: str) -> Callable[[Any], Awaitable[Any]]:
    return lambda ports: blob_arrived(ports, "scripts", name)


def _cancelled(run: Run) -> None:
    _one(run)

    async def ask(ports: Any) -> None:
        for job in run.jobs():
            await cancel(ports, job.id)

    run.messages.append(Message(ask))


def _given_up(run: Run) -> None:
    """A message that may have been accepted becomes a dead letter, and is redriven."""
    _one(run)
    body = json.dumps({"spec": job_json(), "notify": [HOOK]}).encode()

    async def give_up(ports: Ports) -> None:
        await bury(ports, "jobs", "m1", body, 41, ValueError("a defect"))
        await redrive(ports, dead_id("jobs", "m1"))

    run.messages.append(Message(give_up))


def _last_try(run: Run) -> None:
    """A message with too many tries is tried once more; if it is dead after that, a person redrives it."""
    body = json.dumps({"spec": job_json(), "notify": [HOOK]}).encode()
    tries, looks = itertools.count(41), itertools.count()

    async def arrive(ports: Ports) -> None:
        await message_arrived(ports, body, "m1", tries=next(tries))

    async def check(ports: Ports) -> None:
        dead = await ports.dead.all()
        for one in dead:
            await redrive(ports, one.id)
        if not dead and not run.jobs() and next(looks) < 40:
            raise Unavailable("it is neither accepted nor dead yet")  # the person looks again

    run.messages += [Message(arrive), Message(check)]


def _told_again(run: Run) -> None:
    """A receiver that refused an event gets it after all, when a person redelivers it."""
    _one(run)
    looks = itertools.count()
    run.world.webhooks.answers = [Posted("gone", 410, "410", None, 1), *run.world.webhooks.answers]

    async def again(ports: Ports) -> None:
        result = await ports.outbox.dead()
        for notice in result:
            for one in await ports.outbox.disabled():
                await ports.outbox.enable(one.id)
            await redeliver_event(ports, notice.event_id)
        if not result and next(looks) < 10:
            raise Unavailable("it is not dead yet")  # the message comes again

    run.messages.append(Message(again))


def notices(jobs: list[str]) -> list[Message]:
    """A message that names all of these jobs."""
    event = {"specversion": "1.0", "type": ENDED, "source": "urn:x", "id": "x", "data": {"jobs": jobs}}
    body = json.dumps(event).encode()
    return [Message(lambda ports: message_arrived(ports, body, "push"))]


def records(jobs: list[str]) -> list[Message]:
    """The record of a run of each job, as a node writes it into a container."""

    def written(job: str) -> Message:
        return Message(lambda ports: blob_arrived(ports, "logs", f"ends/{job}.1/result.json"))

    return [written(job) for job in jobs]


def _pushed(run: Run) -> None:
    run.pushes = notices
    _one(run)


def _recorded(run: Run) -> None:
    run.pushes = records
    _one(run)


def _preempted(run: Run) -> None:
    run.preempts = True
    _one(run)


def _requeued(run: Run) -> None:
    """A job that is requeued and restarts between two passes: it is running before and after."""
    run.requeues = Requeues()
    _one(run)


def _archived(run: Run) -> None:
    """A drop and a message that arrive again when only their tombstones are left."""
    run.archives = True
    _drop(run)
    _one(run)
    again, looks = list(run.messages), itertools.count()

    async def late(ports: Ports) -> None:
        jobs = run.jobs()
        if (len(jobs) < 2 or not all(job.archived for job in jobs)) and next(looks) < 40:
            raise Unavailable("they are not archived yet")  # the message comes again
        run.messages += again

    run.messages.append(Message(late))


def _failed(run: Run) -> None:
    """A job that fails, and writes the reason into a file, which is read when its end is recorded."""
    run.fails_with = b"ValueError: no data"
    _one(run)


def _waiting(run: Run) -> None:
    """A drop that waits for one thing and then for another."""
    run.waits = (
        Why("PartitionDown", "its partition is down"),
        Why("JobHeldAdmin", "held by an operator"),
    )
    _drop(run)


def _keyed(key: str, **members: Any) -> dict[str, Any]:
    return {"spec": job_json(), "notify": [HOOK], "idempotencyKey": key, **members}


def _id(key: str) -> str:
    """The id of the job that a message with this key becomes."""
    return job_id(key_of("queue", key), 1)


def _in_order(document: dict[str, Any], *, archived: bool = False) -> Message:
    """A message that is sent only when the jobs that it names are accepted, or archived."""
    message_of = message(document, document["idempotencyKey"])
    named = {*document.get("after", ()), *document.get("afterFailure", ())}

    async def send(ports: Ports) -> None:
        for job in named:
            stored = await ports.ledger.get(job)
            if stored is None or (archived and not stored.job.archived):
                raise Unavailable("it is not sent yet")  # the message comes again
        await message_of.run(ports)

    return Message(send)


def _dependent(run: Run) -> None:
    """Two jobs that wait for one, and one that waits for both."""
    run.messages.append(message(_keyed("a"), "a"))
    for key, others in (("b", ["a"]), ("c", ["a"]), ("d", ["b", "c"])):
        run.messages.append(_in_order(_keyed(key, after=[_id(other) for other in others])))


def _broken(run: Run) -> None:
    """A job fails; two that depend on it are cancelled one after the other, and one runs because of that."""
    run.fails_with = b"ValueError: no data"
    run.messages.append(message(_keyed("a"), "a"))
    run.messages += [_in_order(_keyed(key, after=[_id(other)])) for key, other in (("b", "a"), ("c", "b"))]
    run.messages.append(_in_order(_keyed("d", afterFailure=[_id("a"), _id("c")])))


def _behind_archived(run: Run) -> None:
    """A successful job is archived before two others name it."""
    run.archives = True
    run.messages.append(message(_keyed("a"), "a"))
    run.messages.append(_in_order(_keyed("b", after=[_id("a")]), archived=True))
    run.messages.append(_in_order(_keyed("c", afterFailure=[_id("a")]), archived=True))


def _sweep(**members: Any) -> Message:
    spec = job_json(customToolkitSettings={"commandLine": "python train.py --lr {lr}"})
    document = {"spec": spec, "notify": [HOOK], "sweep": {"lr": [0.1, 0.01, 0.001]}, "parallel": 2, **members}
    return message(document, "w")


def _swept(run: Run) -> None:
    """Three jobs of one template, two at once, and their message arrives again."""
    run.messages += [_sweep(), _sweep()]


def _swept_badly(run: Run) -> None:
    """The same, one at a time; each job loses its node once, and then fails."""
    run.preempts = True
    run.fails_with = b"ValueError: no data"
    run.messages.append(_sweep(parallel=1))


def _swept_away(run: Run) -> None:
    """A sweep is cancelled while some of its jobs wait."""
    run.messages.append(_sweep(parallel=1))
    looks = itertools.count()

    async def ask(ports: Ports) -> None:
        if not run.world.engine.started and next(looks) < 5:
            raise Unavailable("none of its jobs was submitted yet")  # the person looks again
        for sweep in sweeps(run.world):
            await cancel_sweep(ports, sweep.id)

    run.messages.append(Message(ask))


def _swept_and_told(run: Run) -> None:
    """The same, one at a time; their ends are notified, often too early."""
    run.pushes = notices
    run.messages += [_sweep(parallel=1), _sweep(parallel=1)]


def _swept_and_archived(run: Run) -> None:
    """A sweep and its jobs are archived, and then its message arrives again."""
    run.archives = True
    run.messages.append(_sweep())
    looks = itertools.count()

    async def late(ports: Ports) -> None:
        if not all(sweep.archived for sweep in sweeps(run.world)) and next(looks) < 40:
            raise Unavailable("it is not archived yet")  # the message comes again
        run.messages.append(_sweep())

    run.messages.append(Message(late))


def _one_key(run: Run) -> None:
    """A job and a sweep of one job with the same key, at once: the loser is rejected."""
    run.rejects = 1
    sweep = _keyed("a", sweep={"lr": [0.1]})
    run.messages += [message(_keyed("a"), "m1", twin=True), message(sweep, "m2", twin=True)]


def _one_key_later(run: Run) -> None:
    """The same, the sweep first."""
    _one_key(run)
    run.messages = [replace(one, twin=False) for one in reversed(run.messages)]


SWEPT = Story("jobs of a sweep", _swept, 3, 3)
ONE_KEY_LATER = Story("a sweep, and then a job with its key", _one_key_later, 2, 1)
ONE_KEY = Story("a job and a sweep with one key at once", _one_key, 2, 1)
SWEPT_TWICE = Story("jobs of a sweep, with two passes at once", _swept, 3, 3, twice=True)
CANCELLED = Story("a cancelled job", _cancelled)
FAILED = Story("a job that fails, and says why", _failed)
REQUEUED = Story("a job that begins again between two passes", _requeued)
WAITING = Story("a job that waits, and says why", _waiting)
DEPENDENT = Story("jobs that wait for others", _dependent, 4, 4)
BROKEN = Story("jobs that wait for what cannot come any more", _broken, 4, 2)
TWICE = Story("jobs that wait for others, with two passes at once", _dependent, 4, 4, twice=True)
ARCHIVED = Story("duplicates of jobs that are archived", _archived, 2, 2)
#: The stories of sweeps of jobs.
JOB_SWEEPS = (
    SWEPT,
    SWEPT_TWICE,
    Story("jobs of a sweep that lose their nodes, and fail", _swept_badly, 3, 6),
    Story("a sweep that is cancelled", _swept_away, 3, None),
    Story("jobs of a sweep whose ends are told", _swept_and_told, 3, 3),
    Story("a sweep that is archived", _swept_and_archived, 3, 3),
    ONE_KEY,
    ONE_KEY_LATER,
)
PREEMPTED = Story("a job that loses its node", _preempted, started=2)
STORIES = (
    Story("one message", _one),
    Story("the same message twice at once", _twice_at_once),
    Story("four messages at once, two of them the same", _four_at_once, 3, 3, together=True),
    Story("the same message again later", _again_later),
    Story("a bad message", _bad, started=0),
    Story("a drop", _drop),
    Story("a drop whose event never came", _drop_without_event),
    CANCELLED,
    Story("a message that was given up, and redriven", _given_up),
    Story("a message at its last try", _last_try),
    Story("an event that was given up, and redelivered", _told_again),
    Story("a job whose end is told, and often too early", _pushed),
    Story("a job whose nodes record its end, and often too early", _recorded),
    PREEMPTED,
    REQUEUED,
    FAILED,
    WAITING,
    ARCHIVED,
    Story("three jobs, with two passes at once", _three, 3, 3, twice=True),
    DEPENDENT,
    BROKEN,
    TWICE,
    *JOB_SWEEPS,
    Story("jobs that wait for one that is archived", _behind_archived, 3, 2),
)


async def play(story: Story, plan: Mapping[int, Fault], *, wake_after: int = 3) -> Run:
    """Run a story to its end, with a plan of faults."""
    run = Run(plan, wake_after=wake_after, together=story.together, twice=story.twice)
    story.begin(run)
    await run.until_quiet()
    run.check(accepted=story.accepted, started=story.started)
    return run
