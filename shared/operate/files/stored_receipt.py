"""stored_receipt: the receipt of a job, as it is in the container of receipts. Read-only."""

from __future__ import annotations

import json

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import Misuse
from shared.core.ports import Ports
from shared.lifecycle.lookup import job

_LONGEST_RECEIPT = 16 << 20


async def receipt_of(ports: Ports, job_id: str, who: Caller = KEY_HOLDER) -> bytes:
    """The job's current receipt.json. Raises Misuse (404) if there is none, or another text in its place."""
    stored = await job(ports, job_id, who)
    path = f"{stored.job.receipt}/receipt.json"
    blob = await ports.drops.read_receipt_file(path, limit=_LONGEST_RECEIPT)
    if blob is None:
        raise Misuse(
            f"there is no receipt of {job_id}" + ("" if stored.job.state.terminal else " yet"),
            status=404,
            remedy="POST /api/jobs/{id}/events/redeliver writes one that is missing after the end",
        )
    if not _is_of(blob, job_id):
        raise Misuse(
            f"runs/{path} is not the receipt of {job_id}: it holds another job's, or was changed",
            status=404,
            remedy="POST /api/jobs/{id}/events/redeliver writes the receipt again after the end",
        )
    return blob


def _is_of(receipt: bytes, job_id: str) -> bool:
    """Whether the receipt is that of the job: only a part of its id is in the name of its folder."""
    try:
        members = json.loads(receipt)
    except (ValueError, RecursionError):
        return False
    return isinstance(members, dict) and members.get("id") == job_id
