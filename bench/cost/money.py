"""Dollars per million jobs: counted requests, metered seconds and logged bytes times dated prices. Pure.

Prices in US dollars, East US, LRS, read on 2026-11: storage from the retail price API as infracost's golden
files quote it, Functions from the page of the Flex Consumption plan, which `infra/` deploys, logs from Azure
Monitor's. A transaction of a table is one billed request.

An instance is billed from when it becomes active until nothing runs on it: at least a second, then in steps
of 100 ms, for all of its memory and however many invocations run on it at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

#: For one request.
QUEUE, TABLE, BLOB_WRITE, BLOB_READ = 0.004 / 10_000, 0.00036 / 10_000, 0.055 / 10_000, 0.0044 / 10_000
#: What a line of the access log ends with that renews a lease, as the host does: no write, by the price list.
LEASE = "?comp=lease"
#: For one invocation, and for a second of an active instance of 2 GB (`instanceMemoryMB` in infra/).
CALL, SECOND = 0.40 / 1e6, 2 * 26e-6
#: What is free in a month: calls, and GB-seconds as seconds of such an instance.
FREE_CALLS, FREE_SECONDS = 250_000, 100_000 / 2
#: The least for which an active instance is billed.
_LEAST = 1.0
#: For a GB of logs, and the GB that are free in a month.
LOGS, FREE_LOGS = 2.30, 5.0
#: GB that an invocation logs: the app's line and the host's record of a request, with their envelopes.
LOGGED = 1.7e-6
#: Seconds that the host's own meter counted for each of 448 messages that came at once: 12.4 in all.
IN_A_BURST = 12.4 / 448


def dollars(requests: Mapping[str, float], invocations: float) -> float:
    """Per million jobs that come at once, without logs.

    From requests a job by service (`queue`, `table`, `blob write`, `blob read`), and its invocations.
    """
    prices = {"queue": QUEUE, "table": TABLE, "blob write": BLOB_WRITE, "blob read": BLOB_READ}
    storage = sum(prices[kind] * number for kind, number in requests.items())
    return 1e6 * (storage + invocations * (CALL + IN_A_BURST * SECOND))


def active(a_second: float, busy: float) -> float:
    """The part of the time for which an instance is billed whose invocations come by chance.

    `a_second` of them come in a second and take `busy` seconds each. One that comes within the least time of
    another adds only the rest.
    """
    return 1 - math.exp(-a_second * max(busy, _LEAST))


def monthly(seconds: float, calls: float) -> float:
    """A month's bill of the plan: metered seconds and calls, less what is free."""
    return max(0.0, seconds - FREE_SECONDS) * SECOND + max(0.0, calls - FREE_CALLS) * CALL


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
