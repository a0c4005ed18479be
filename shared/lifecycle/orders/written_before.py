"""written_before: the output directories of the jobs that a job waited for, as far as it reaches them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from shared.core.errors import Misuse, Unreadable
from shared.core.job import Dependency, Job
from shared.core.ports import Ports
from shared.core.relations.before import AFTER, Before, before, variables
from shared.lifecycle.lookup import archived, legible


async def written_before(ports: Ports, job: Job, document: Mapping[str, Any]) -> tuple[Before, ...]:
    """Those of its own team that have ended, each with the directories of its last attempt.

    Costs two reads for each, and nothing for a job that waited for none. Raises Unavailable.
    """
    numbered = enumerate(job.dependencies, 1)
    jobs = await asyncio.gather(*(_before(ports, job, document, n, one) for n, one in numbered))
    return tuple(one for one in jobs if one is not None)


def variables_before(job: Job, earlier: tuple[Before, ...]) -> dict[str, str]:
    """The variables: the id of each job that it waited for, and the directories."""
    ids = {f"{AFTER}{number}": one.job for number, one in enumerate(job.dependencies, 1)}
    return ids | variables(earlier)


async def _before(
    ports: Ports, job: Job, document: Mapping[str, Any], number: int, dependency: Dependency
) -> Before | None:
    """None for a job without output, of another team, or of which no record can be read any more."""
    stored = await legible(ports, dependency.job)
    if stored is None:
        return None
    earlier, written = stored.job, None
    try:
        if earlier.archived:
            whole = await archived(ports.archive, earlier)
            earlier, written = whole.job, whole.spec
        elif earlier.state.terminal:
            written = await ports.ledger.spec(earlier.id)
    except (Misuse, Unreadable):
        return None
    is_there = written is not None and earlier.target is not None and earlier.segment
    if not is_there or earlier.team != job.team or written is None:
        return None
    cluster, is_archived = job.fixed_target.cluster, bool(stored.job.archived)
    one = before(number, earlier.fixed_target, earlier.segment, written, document, cluster)
    return one._replace(is_known=not is_archived)
