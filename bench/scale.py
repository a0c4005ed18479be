"""What a day's jobs cost on Azure, and which limit comes first: arithmetic over counted requests. Pure.

`python -m bench.scale --jobs-a-day 1000000 --active 100000`. Limits: learn.microsoft.com, scalability targets
of queues (2,000 messages/s), tables (2,000 entities/s a partition, 20,000/s an account), ARM (25 reads/s).
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass

from bench.money import INVOCATION, QUEUE, TABLE

_DAY = 86_400
#: Entities that one job writes: record, spec, listing, index, event; again at `queued`; its end; its archive.
ENTITIES = 5 + 2 + 3 + 2
_QUEUE_LIMIT, _PARTITION_LIMIT, _ACCOUNT_LIMIT, _ARM_LIMIT = 2_000, 2_000, 20_000, 25
_PAGE = 1_000


@dataclass(frozen=True)
class Load:
    """What comes in a day, and how much of it at the busiest time."""

    jobs_a_day: float
    active: int
    peak: float = 5.0
    sweep_seconds: float = 60.0
    shards: int = 4
    #: transactions that a job takes part in, over those that are sent: what group commit saves
    shared: float = 8.0
    experiments: int = 10


@dataclass(frozen=True)
class Cost:
    """What it asks of the services: per second at the peak, and in a month."""

    queue_messages: float
    partition_entities: float
    account_requests: float
    engine_reads: float
    dollars_a_month: float
    dollars_a_million: float

    @property
    def shares(self) -> dict[str, float]:
        """How much of each limit is used at the peak; the largest comes first."""
        used = {
            "messages of one queue": self.queue_messages / _QUEUE_LIMIT,
            "entities of one partition": self.partition_entities / _PARTITION_LIMIT,
            "requests of the account": self.account_requests / _ACCOUNT_LIMIT,
            "reads of the engine (ARM)": self.engine_reads / _ARM_LIMIT,
        }
        return dict(sorted(used.items(), key=lambda item: -item[1]))


def cost(load: Load) -> Cost:
    """The arithmetic: every job is put, received, deleted, and its end pushed; three or four transactions."""
    second = load.jobs_a_day / _DAY * load.peak
    messages = 2 + 1 / 32  # put, delete, and a receive for 32
    transactions = 4 / load.shared
    sweeps = 1 / load.sweep_seconds
    pages = load.shards * (math.ceil(load.active / load.shards / _PAGE) + 1)
    lists = max(load.experiments, math.ceil(load.active / _PAGE))
    table = second * transactions + pages * sweeps
    month = 30 * _DAY
    jobs = load.jobs_a_day * 30
    money = jobs * (messages * QUEUE + transactions * TABLE + INVOCATION)
    money += month * sweeps * (pages * TABLE + INVOCATION * max(1.0, load.active * 60e-6 / 0.1))
    return Cost(
        queue_messages=second,
        partition_entities=second * ENTITIES / load.shards,
        account_requests=second * messages + table,
        engine_reads=lists * sweeps,
        dollars_a_month=money,
        dollars_a_million=money / jobs * 1e6,
    )


def table(load: Load) -> str:
    """For people."""
    found = cost(load)
    lines = [
        f"{load.jobs_a_day:,.0f} jobs a day, {load.active:,} active, a sweep every {load.sweep_seconds:g} s, "
        f"{load.shards} shards, the peak {load.peak:g} times the mean",
        f"  ${found.dollars_a_month:,.2f} a month, ${found.dollars_a_million:.2f} per million jobs",
    ]
    lines += [f"  {share:7.1%} of the limit: {name}" for name, share in found.shares.items()]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Print one load, or the three of docs/scale.md."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--jobs-a-day", type=float)
    parser.add_argument("--active", type=int, default=1000)
    parser.add_argument("--shards", type=int, default=4)
    options = parser.parse_args(arguments)
    if options.jobs_a_day:
        loads = [Load(options.jobs_a_day, options.active, shards=options.shards)]
    else:
        loads = [Load(10_000, 1_000), Load(1e6, 100_000), Load(1e7, 100_000, shards=16)]
    sys.stdout.write("\n".join(table(load) for load in loads))


if __name__ == "__main__":
    main()
