"""What a job may cost at most, as the app explains it, compared with what its sender allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipway.client.calls.kinds import kind_of
from slipway.client.calls.refusal import placed
from slipway.failure import OVER_LIMIT, Failure

#: What the app says of a job that would not run.
NEVER = ("rejected", "refused", "cancelled")


def refuse(explanation: Mapping[str, Any], file: str, most: float | None = None) -> None:
    """Raise Failure for a job that cannot run, or may cost more than `most`: then nothing is sent.

    `file` is what its problems are named by. A job that is there already costs nothing more.
    """
    if explanation.get("verdict") in NEVER:
        problems = [one for one in explanation.get("problems", ()) if one.get("severity") == "error"]
        raise Failure(
            f"nothing was sent, because the job cannot run\n{placed(problems, file)}",
            kind_of(422, {"errors": problems}),
        )
    is_there = explanation.get("verdict") == "duplicate" or explanation.get("sweep", {}).get("existing")
    if most is None or is_there:
        return
    amounts = _amounts(explanation)
    if not amounts:
        raise Failure(
            "nothing was sent: what it may cost is not known; ask the operator for a row of SLIPWAY_PRICES, "
            "or leave out --max-cost",
            OVER_LIMIT,
        )
    over = [f"{amount:,.2f} {currency}" for currency, amount in amounts.items() if amount > most]
    if over:
        raise Failure(
            f"nothing was sent: it may cost {' or '.join(over)} if it runs as long as it may, and --max-cost "
            f"is {most:,g}; give it less time (--time, or maxWallClockTime) or fewer nodes",
            OVER_LIMIT,
        )


def in_words(explanation: Mapping[str, Any]) -> str:
    """What it may cost, as a clause; "" where that is not known."""
    amounts = [f"{amount:,.2f} {currency}" for currency, amount in _amounts(explanation).items()]
    return f"it costs at most {' or '.join(amounts)}, if it is not retried" if amounts else ""


def _amounts(explanation: Mapping[str, Any]) -> dict[str, float]:
    """The most that one attempt of each of its jobs may cost, by currency."""
    jobs = explanation.get("sweep", {}).get("jobs", 1)
    prices = explanation.get("cost", {}).get("price") or ()
    return {one["currency"]: jobs * one["total"]["to"] for one in prices}
