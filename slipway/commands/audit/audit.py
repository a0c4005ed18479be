"""`slipway audit`: compares drops, ledger, clusters and deliveries."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from slipway.client.service import service
from slipway.commands.asking import show
from slipway.failure import finding_out
from slipway.terminal.screen import table

if TYPE_CHECKING:
    from slipway.client import shapes

#: The exit code where something did not answer.
_SILENT = 3


def run(url: str, key: str, *, as_json: bool) -> int:
    """Print the differences.

    Returns 0 if there are none, 1 if there are some, 3 if a part could not be queried. Raises Failure with 3.
    """

    async def ask() -> shapes.AuditReport:
        async with service(url, key) as api:
            return await api.audit()

    with finding_out(_SILENT):
        report = asyncio.run(ask())
    show(report, lines, as_json=as_json)
    if report["differences"]:
        return 1
    return _SILENT if report["unknown"] else 0


def lines(report: shapes.AuditReport) -> list[str]:
    """The report as lines for a person, the differences first."""
    rows = [(one["kind"], one["what"], one["message"]) for one in report["differences"]]
    counted = ", ".join(f"{number} {what}" for what, number in report["counted"].items())
    verdict = f"{len(rows)} difference{'s' if len(rows) > 1 else ''}" if rows else "no difference"
    return [
        *(table([("kind", "what", "message"), *rows]) if rows else ()),
        *(f"not known: {one}" for one in report["unknown"]),
        f"{verdict} ({counted})",
    ]
