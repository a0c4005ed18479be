"""`slipway audit`: compares drops, ledger, clusters and deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from slipway.commands.asking import asking, show
from slipway.commands.options import LOCAL, Json, Key, Url
from slipway.failure import NOT_KNOWN, finding_out
from slipway.terminal.screen import table

if TYPE_CHECKING:
    from slipway.client import shapes
    from slipway.client.service import Service

app = typer.Typer()


@app.command(short_help="Compare drops, ledger, clusters and deliveries.")
def audit(
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Compare drops, ledger, clusters and deliveries; exit code 1 if they differ, 125 if one is silent."""

    async def ask(api: Service) -> int:
        report = await api.audit()
        show(report, lines, as_json=as_json)
        return 1 if report["differences"] else NOT_KNOWN if report["unknown"] else 0

    with finding_out():
        raise typer.Exit(asking(ask, url, key))


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
