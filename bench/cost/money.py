"""Dollars per million jobs: counted requests times dated prices. Pure.

Prices in US dollars, East US, LRS, read on 2026-11: storage from the retail price API as infracost's golden
files quote it, Functions from the consumption plan's page. A transaction of a table is one billed request.
"""

from __future__ import annotations

from collections.abc import Mapping

#: For one request.
QUEUE, TABLE, BLOB_WRITE, BLOB_READ = 0.004 / 10_000, 0.00036 / 10_000, 0.055 / 10_000, 0.0044 / 10_000
#: What a line of the access log ends with that renews a lease, as the host does: no write, by the price list.
LEASE = "?comp=lease"
#: For one invocation: the call, and 128 MB for 100 ms, which is the least that is billed.
INVOCATION = 0.20 / 1e6 + 0.128 * 0.1 * 16e-6


def dollars(requests: Mapping[str, float], invocations: float) -> float:
    """Per million jobs, from requests a job by service (`queue`, `table`, `blob write`, `blob read`)."""
    prices = {"queue": QUEUE, "table": TABLE, "blob write": BLOB_WRITE, "blob read": BLOB_READ}
    storage = sum(prices[kind] * number for kind, number in requests.items())
    return 1e6 * (storage + invocations * INVOCATION)


def by_service(counts: Mapping[str, int], jobs: int) -> dict[str, float]:
    """Requests a job by service, from lines of the access log; polls that found nothing left out."""
    prices = {"queue": 0.0, "table": 0.0, "blob write": 0.0, "blob read": 0.0}
    for line, number in counts.items():
        verb, _, path = line.partition(" ")
        if "/messages" in path:
            kind = "queue"
        elif "(" in path or path.startswith(("$batch", "Tables")):
            kind = "table"
        else:
            kind = "blob read" if verb in ("GET", "HEAD") or path.endswith(LEASE) else "blob write"
        prices[kind] += number / jobs
    return prices
