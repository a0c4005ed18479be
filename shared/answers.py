"""answers: what is left in the container `runs` for the person who dropped something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.job import Job, JobState
from shared.ports import Ports
from shared.receipt import diagnostics, receipt


async def put_accepted(ports: Ports, job: Job, document: Mapping[str, Any] | None) -> None:
    """The first answer: accepted. Never replaces a later one, whoever is late."""
    await ports.drops.put_answer(f"{job.receipt}/receipt.json", receipt(job, document), replace=False)


async def put_final(ports: Ports, job_id: str) -> None:
    """The last answer, from the record as it ended; may be repeated."""
    stored = await ports.ledger.get(job_id)
    if stored is None:
        return
    job = stored.job
    if job.state is JobState.REJECTED:
        await ports.drops.put_answer(f"{job.receipt}/diagnostics.txt", diagnostics(job), replace=True)
    document = await ports.ledger.spec(job_id)
    await ports.drops.put_answer(f"{job.receipt}/receipt.json", receipt(job, document), replace=True)
