"""Stories of teams with a quota, with their expected results."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

from shared.adapters.storage.table import VersionedRow
from shared.adapters.storage.teams import document_row
from shared.core.errors import Unavailable
from shared.core.ports import Ports
from shared.core.teams.document import Teams
from shared.operate.ends.cancel import cancel
from tests.crash.harness import Message, Run
from tests.crash.stories import HOOK, Story, message, notices
from tests.unit.world import job_json


def share(run: Run, **quota: Any) -> None:
    """Put all jobs into one team with this quota."""
    teams = Teams.model_validate({"default": "vision", "teams": {"vision": {"quota": quota}}})
    row = document_row(teams)
    run.world.ledger.held[row["PartitionKey"], row["RowKey"]] = VersionedRow(row, "first", run.world.clock())


def _ask(number: int, *, nodes: int = 1, twin: bool = False, **members: Any) -> Message:
    document = {"spec": job_json(nodeCount=nodes), "notify": [HOOK], **members}
    return message(document, f"m{number}", twin=twin)


def _shared(run: Run) -> None:
    """Three jobs, two at once, and a message that arrives again."""
    share(run, jobs=2)
    run.messages += [*(_ask(number) for number in range(3)), _ask(1)]


def _one_person(run: Run) -> None:
    """Three jobs of one person, who may have one at once; the team may have all of them."""
    share(run, jobs=3, perPerson={"jobs": 1})
    run.messages += [*(_ask(number) for number in range(3)), _ask(1)]


def _at_once(run: Run) -> None:
    """Three messages at once; two of them request all nodes."""
    share(run, nodes=2)
    run.messages += [_ask(1, nodes=2, twin=True), _ask(2, twin=True), _ask(3, nodes=2, twin=True)]


def _ahead(run: Run) -> None:
    """Three jobs, one at a time; the clock was days ahead when they came, and is right after that."""
    _shared(run)
    share(run, jobs=1)
    run.skew = lambda process, number: timedelta(days=3 * (number < 2))


def _lost_nodes(run: Run) -> None:
    """Two jobs, one at a time; each loses its node once."""
    share(run, jobs=1)
    run.preempts = True
    run.messages += [_ask(1), _ask(2)]


def _notified(run: Run) -> None:
    """The same without losses; their ends are notified, often too early."""
    share(run, jobs=1)
    run.pushes = notices
    run.messages += [_ask(1), _ask(2)]


def _cancelled(run: Run) -> None:
    """Three jobs, one at a time, and all of them are cancelled."""
    share(run, jobs=1)
    run.messages += [_ask(number) for number in range(3)]

    async def ask(ports: Ports) -> None:
        for job in run.jobs():
            await cancel(ports, job.id)

    run.messages.append(Message(ask))


def _lend(run: Run) -> None:
    """Two teams with one job at a time each; one lends and the other borrows."""
    quotas = {"speech": {"jobs": 1, "borrows": True}, "vision": {"jobs": 1, "lends": True}}
    teams = {name: {"quota": quota} for name, quota in quotas.items()}
    row = document_row(Teams.model_validate({"default": "vision", "teams": teams}))
    run.world.ledger.held[row["PartitionKey"], row["RowKey"]] = VersionedRow(row, "first", run.world.clock())


async def _is_lent(run: Run) -> bool:
    return bool((await run.world.ports.teams.use("vision")).lent)


def _recalled(run: Run) -> None:
    """A team has two jobs, and one of them borrows; then the lender gets a job."""
    _lend(run)
    own, looks = _ask(3), itertools.count()

    async def later(ports: Ports) -> None:
        if not await _is_lent(run) and next(looks) < 10:
            raise Unavailable("nothing is lent yet")  # the message comes again
        await own.run(ports)

    run.messages += [*(_ask(number, team="speech") for number in range(2)), Message(later)]


def _recalled_and_cancelled(run: Run) -> None:
    """The same; the borrower's jobs are cancelled when the first of them has returned its claim."""
    _recalled(run)
    looks = itertools.count()

    async def ask(ports: Ports) -> None:
        back = [job for job in run.jobs() if job.claim is not None and job.claim.returns]
        if not back and next(looks) < 20:
            raise Unavailable("nothing was given back yet")  # the person looks again
        for job in back:
            await cancel(ports, job.id)

    run.messages.append(Message(ask))


def _recalled_in_vain(run: Run) -> None:
    """The same, with a long queue; the lender's job is cancelled as soon as a loan is recalled for it."""
    _recalled(run)
    run.queues_for = 8
    looks = itertools.count()

    async def ask(ports: Ports) -> None:
        if not any(job.is_recalled for job in run.jobs()) and next(looks) < 20:
            raise Unavailable("nothing is recalled yet")  # the person looks again
        for job in run.jobs():
            if job.team == "vision":
                await cancel(ports, job.id)

    run.messages.append(Message(ask))


RECALLED = Story("a job that borrows, and is recalled", _recalled, 3, None)
RECALLED_AND_CANCELLED = Story(
    "a job that borrows, and is recalled and cancelled", _recalled_and_cancelled, 3, None
)
ONE_PERSON = Story("jobs of one person with a limit", _one_person, 3, 3)
SHARED = Story("jobs of a team with a quota", _shared, 3, 3)
TWICE = Story("jobs of a team with a quota, with two passes at once", _shared, 3, 3, twice=True)
AHEAD = Story("jobs of a team, whose clock was days ahead", _ahead, 3, 3)
AT_ONCE = Story("jobs of a team at once", _at_once, 3, 3)
RECALLED_IN_VAIN = Story("a job that borrows, and is recalled in vain", _recalled_in_vain, 3, None)
TEAMS = (
    SHARED,
    TWICE,
    AT_ONCE,
    AHEAD,
    ONE_PERSON,
    Story("jobs of a team that lose their nodes", _lost_nodes, 2, 4),
    Story("jobs of a team whose ends are told", _notified, 2, 2),
    Story("jobs of a team that are cancelled", _cancelled, 3, None),
    RECALLED,
    Story("a job that borrows, and is recalled, with two passes at once", _recalled, 3, None, twice=True),
    RECALLED_AND_CANCELLED,
)
