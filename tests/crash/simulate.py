"""Random schedules, each from a seed: a few jobs, passes, duplicates, quotas, wrong clocks, many faults."""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta

from tests.crash.chaos import Fault
from tests.crash.drops.drop_stories import drop_by_chance
from tests.crash.harness import Run
from tests.crash.stories import HOOK, message, notices
from tests.crash.teams.team_stories import share
from tests.crash.waiting.waiting_stories import people_by_chance
from tests.unit.world import job_json

_BLOCK = 100
#: The jobs of a sweep.
_SWEPT = 3
#: The parts of the schedules with a quota, and with wrong clocks; and of the others, those with drops.
_SHARED, _SKEWED, _DROPPED = 0.3, 0.3, 0.5
#: The part in which people change jobs that wait.
_CHANGED = 0.4


async def simulate(seed: int) -> list[str]:
    """Run one schedule to its end, and return the violations."""
    dice = random.Random(seed)
    plan = {n: dice.choice(list(Fault)) for n in dice.sample(range(1, 150), dice.randint(3, 12))}
    run = Run(plan, wake_after=dice.randint(1, 5), together=dice.random() < 0.5)
    jobs = dice.randint(1, 4)
    arrivals = [f"m{n}" for n in range(jobs) for _ in range(dice.randint(1, 3))]
    dice.shuffle(arrivals)
    run.messages = [
        message({"spec": job_json(), "notify": [HOOK]}, name, twin=dice.random() < 0.5) for name in arrivals
    ]
    swept = _sweeps(run, dice)
    if dice.random() < _SHARED:
        share(run, jobs=dice.randint(1, 2), **({"perPerson": {"jobs": 1}} if dice.random() < 0.3 else {}))
    dropped = 0
    if dice.random() < _SKEWED:
        _set_clocks_wrong(run, dice)
    elif dice.random() < _DROPPED:  # a clock that is days behind takes no file for quiet
        dropped = drop_by_chance(run, dice)
    if dice.random() < _CHANGED:
        people_by_chance(run, dice)
    await run.until_quiet()
    return run.check(accepted=jobs + swept + dropped, started=jobs + swept + dropped)


def _set_clocks_wrong(run: Run, dice: random.Random) -> None:
    """The clocks of all processes, or of every second one, are wrong by days, until some round or for good.

    Never by less than the longest wait of an event: one may be late by a small jump.
    """
    days, until = timedelta(days=dice.choice((-400, -3, 3, 10, 40))), dice.choice((3, 8, 1_000))
    every = dice.choice((1, 2))

    def skew(process: int, number: int) -> timedelta:
        return days if number < until and process % every == 0 else timedelta()

    run.skew = skew


def _sweeps(run: Run, dice: random.Random) -> int:
    """Add job sweeps, or none, and sometimes notices of ends, true or false; returns how many jobs."""
    number = dice.choice((0, 0, 1, 2))
    if number and dice.random() < 0.5:
        run.pushes = notices
    arrivals = [f"w{n}" for n in range(number) for _ in range(dice.randint(1, 2))]
    dice.shuffle(arrivals)
    parallel = {name: dice.randint(1, _SWEPT) for name in sorted(arrivals)}
    spec = job_json(customToolkitSettings={"commandLine": "python train.py --seed {seed}"})
    template = {"spec": spec, "notify": [HOOK], "sweep": {"seed": {"range": [0, _SWEPT]}}}
    for name in arrivals:
        document = {**template, "parallel": parallel[name]}
        run.messages.append(message(document, name, twin=dice.random() < 0.5))
    return number * _SWEPT


def simulate_block(first: int, count: int) -> dict[int, list[str]]:
    """Run some schedules in sequence, and return the seeds with violations."""

    async def block() -> dict[int, list[str]]:
        return {seed: result for seed in range(first, first + count) if (result := await simulate(seed))}

    return asyncio.run(block())


def main(arguments: list[str] | None = None) -> int:
    """Print the seeds with violations; 0 if there are none."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.simulate", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10_000, help="how many schedules")
    parser.add_argument("--first", type=int, default=random.randrange(2**32), help="the first seed")
    options = parser.parse_args(arguments)
    begin, bad, done = time.monotonic(), 0, 0
    blocks = range(options.first, options.first + options.seeds, _BLOCK)
    counts = [min(_BLOCK, options.first + options.seeds - at) for at in blocks]
    # The dispatcher's log lines about injected faults would hide the result.
    with ProcessPoolExecutor(initializer=logging.disable) as pool:
        for count, result in zip(counts, pool.map(simulate_block, blocks, counts), strict=True):
            done += count
            bad += len(result)
            for seed, violations in result.items():
                sys.stdout.write(f"\nseed {seed}: {violations}\n")
            sys.stdout.write(f"\r{done} of {options.seeds} schedules, {bad} violated")
            sys.stdout.flush()
    sys.stdout.write(f", from seed {options.first}, in {time.monotonic() - begin:.0f} s\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
