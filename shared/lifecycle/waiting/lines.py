"""lines: says in the records of jobs at which gate they wait, if they came to it after their first record."""

from __future__ import annotations

from collections.abc import Iterable

from shared.admission.gates import Wait
from shared.admission.reason import waiting as waiting_since
from shared.core.job import Stored
from shared.core.ledger.entries import Active
from shared.core.ports import Ports
from shared.delivery.receipt_files import put_news
from shared.lifecycle.steps import for_each
from shared.lifecycle.transition import apply, note


async def note_waits(ports: Ports, rows: Iterable[Active], wait: Wait) -> None:
    """Say in the records of these jobs that they wait at this gate now; a write for each.

    So people see it, and the doors count those that wait for a slot.
    """
    await for_each(ports, rows, lambda row: note_wait(ports, row.stored, wait))


async def note_wait(ports: Ports, stored: Stored, wait: Wait) -> Stored:
    """Say in the record of a job that it waits at a gate now."""
    why = wait.why(stored.job)
    change = note(ports, stored, waiting=waiting_since(ports, stored.job, why), message=why.text)
    applied = await apply(ports, change)
    if applied is None:
        return stored
    await put_news(ports, applied.job)
    return applied
