"""The invariant of the list of all jobs at every moment: it shows each job as its record does."""

from __future__ import annotations

from shared.adapters.storage.lists.listed import listed_key, shown_of
from shared.core.ledger.listing import brief
from tests.unit.world import World


def wrongly_listed(world: World) -> list[str]:
    """The jobs whose rows differ from their records."""
    result = (row for (_, key), row in world.ledger.rows.items() if key.startswith("l|"))
    shown = {listed_key(row)[16:]: shown_of(row) for row in result}
    jobs = [job for job in world.ledger.jobs if not job.archived]
    return [
        f"{job.id} is {job.state} and listed otherwise" for job in jobs if shown.get(job.id) != brief(job)
    ]
