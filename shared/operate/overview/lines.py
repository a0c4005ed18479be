"""lines: jobs as a list shows them, with when they start and how they failed. Read-only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shared.core.job import Job
from shared.core.ledger.failures import error_of, signature
from shared.core.ports import Ports
from shared.core.view import line
from shared.operate.common_waits import as_they_stand
from shared.operate.overview.expectation import expectations


async def lines(ports: Ports, jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """The jobs of a page. Where some of them wait, the active jobs are read, at most every half minute."""
    standing = await as_they_stand(ports, jobs)
    expected = await expectations(ports, standing)
    return [
        {
            **line(job),
            **({"signature": signature(error)} if (error := error_of(job)) else {}),
            **({"expectedStart": expected[job.id].as_json()} if job.id in expected else {}),
        }
        for job in standing
    ]
