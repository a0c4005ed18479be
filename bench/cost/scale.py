"""What a day's jobs cost on Azure, and which limit comes first: the real code's calls times prices.

`python -m bench.cost.scale --jobs-a-day 1000000 --active 100000`.
What jobs, passes and archiving ask of storage is counted by running them over ports in memory
(`bench.cost.simulate`). Limits: learn.microsoft.com, scalability targets of queues (2,000 messages/s), tables
(2,000 entities/s a partition, 20,000/s an account), ARM (25 reads/s).
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import math
import sys
from dataclasses import dataclass

from bench.cost.money import BLOB_WRITE, FREE_LOGS, LOGGED, LOGS, QUEUE, TABLE, active, monthly
from bench.cost.simulate import PAGE, Simulation, Usage

_DAY = 86_400
_QUEUE_LIMIT, _PARTITION_LIMIT, _ACCOUNT_LIMIT, _ARM_LIMIT = 2_000, 2_000, 20_000, 25
#: Requests of a message: put, delete, and a receive that brings 32.
_MESSAGE = 2 + 1 / 32
#: Seconds that a message keeps its invocation busy, about: it decides how many share a transaction.
_BUSY = 0.05
#: The host asks each of six queues every two seconds while it is empty (host.json), in one instance at most.
_POLLS = 6 / 2
#: Jobs that are simulated, and active jobs at most: the pages of more follow from those of these.
_JOBS, _ACTIVE = 400, 20_000
#: Records in one blob of the archive; CPU seconds of a pass for each job (docs/explanation/performance.md).
_BATCH, _CPU = 100, 40e-6


@dataclass(frozen=True)
class Load:
    """What comes in a day, and how much of it at the busiest time."""

    jobs_a_day: float
    active: int
    peak: float = 5.0
    pass_seconds: float = 60.0
    shards: int = 4
    experiments: int = 10
    #: jobs whose end one push reports; a node that writes its result reports one
    pushed: float = 1.0

    @property
    def at_peak(self) -> float:
        """Jobs in a second at the busiest hour."""
        return self.jobs_a_day / _DAY * self.peak


@dataclass(frozen=True)
class Counts:
    """What the real code asked: for a job, for a pass, for archiving a job."""

    job: Usage
    one_pass: Usage
    archived: Usage


@dataclass(frozen=True)
class Cost:
    """What it asks of the services: per second at the peak, and in a month."""

    queue_messages: float
    partition_entities: float
    account_requests: float
    engine_reads: float
    #: dollars a month, by what they are for
    dollars: dict[str, float]
    dollars_a_million: float

    @property
    def dollars_a_month(self) -> float:
        """What a month costs in all services together."""
        return sum(self.dollars.values())

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


async def count(load: Load, jobs: int = _JOBS) -> Counts:
    """Run jobs, a pass and the archiving; as many jobs at once as the mean rate keeps busy."""
    at_once = max(1, round(load.jobs_a_day / _DAY * _BUSY))
    simulation = Simulation(load.shards)
    job = await simulation.jobs(jobs, at_once)
    archived = await simulation.archived(jobs)
    some = min(load.active, _ACTIVE)
    one_pass = await Simulation(load.shards).make_pass(some)
    more = max(1.0, load.active / some)
    return Counts(job, Usage(one_pass.reads * more, one_pass.transactions, one_pass.entities), archived)


def cost(load: Load, counts: Counts) -> Cost:
    """Counts times prices, and counts a second over limits."""
    messages = 1 + 1 / load.pushed + counts.job.messages
    lists = max(load.experiments, math.ceil(load.active / PAGE))
    passes, month = 1 / load.pass_seconds, 30 * _DAY
    jobs = load.jobs_a_day * 30
    calls = jobs * messages + month * passes
    dollars = {
        "messages": jobs * messages * _MESSAGE * QUEUE,
        "functions": _functions(load, messages),
        "logs": max(0.0, calls * LOGGED - FREE_LOGS) * LOGS,
        "the table": jobs * counts.job.requests * TABLE,
        "archiving": jobs * (counts.archived.requests * TABLE + BLOB_WRITE / _BATCH),
        "passes": month * passes * counts.one_pass.requests * TABLE,
        "empty polls": month * _POLLS * QUEUE,
    }
    table = load.at_peak * counts.job.requests + counts.one_pass.requests * passes
    entities = load.at_peak * (counts.job.entities + counts.archived.entities / load.peak)
    return Cost(
        queue_messages=load.at_peak * messages,
        partition_entities=entities / load.shards,
        account_requests=load.at_peak * messages * _MESSAGE + table,
        engine_reads=lists * passes,
        dollars=dollars,
        dollars_a_million=sum(dollars.values()) / jobs * 1e6,
    )


def _functions(load: Load, messages: float) -> float:
    """Messages on the instances of their function; a pass, and what no job waits for, on the timer's."""
    month, passes = 30 * _DAY, 30 * _DAY / load.pass_seconds
    a_second = load.jobs_a_day / _DAY * messages
    a_pass = max(1.0, load.active * _CPU)
    seconds = month * active(a_second, _BUSY) + passes * a_pass
    return monthly(seconds, month * a_second + passes)


def table(load: Load, counts: Counts) -> str:
    """The costs of a load as lines of a Markdown table."""
    price, job, one_pass = cost(load, counts), counts.job, counts.one_pass
    lines = [
        f"{load.jobs_a_day:,.0f} jobs a day, {load.active:,} active, a pass every {load.pass_seconds:g} s, "
        f"{load.shards} shards, the peak {load.peak:g} times the mean",
        f"  a job: {job.transactions:.2f} transactions, {job.entities:.1f} entities, {job.reads:.2f} reads; "
        f"archiving it: {counts.archived.requests:.2f} requests, {counts.archived.entities:.1f} entities; "
        f"a pass: {one_pass.requests:,.0f} requests",
        f"  ${price.dollars_a_month:,.2f} a month, ${price.dollars_a_million:.2f} per million jobs: "
        + ", ".join(f"{name} ${dollars:,.2f}" for name, dollars in price.dollars.items()),
    ]
    lines += [f"  {share:7.1%} of the limit: {name}" for name, share in price.shares.items()]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Print one load, or the three of docs/explanation/scale.md."""
    parser = argparse.ArgumentParser(prog="python -m bench.cost.scale", description=__doc__)
    parser.add_argument("--jobs-a-day", type=float)
    parser.add_argument("--active", type=int, default=1000)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--pushed", type=float, default=1.0, help="jobs whose end one message reports")
    options = parser.parse_args(arguments)
    logging.disable()
    loads = [Load(10_000, 1_000), Load(1e6, 100_000), Load(1e7, 100_000, shards=16)]
    if options.jobs_a_day:
        loads = [Load(options.jobs_a_day, options.active, shards=options.shards, pushed=options.pushed)]
    sys.stdout.write("\n".join(table(load, asyncio.run(count(load))) for load in loads))


if __name__ == "__main__":
    main()
