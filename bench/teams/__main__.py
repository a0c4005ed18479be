"""Teams that share a cluster: fairness, and the cost of admission: `python -m bench.teams [TEAMS [JOBS]]`."""

from __future__ import annotations

import asyncio
import statistics
import sys

from bench.teams.simulation import simulate


def main(teams: int = 20, jobs: int = 5_000) -> None:
    """Print how fair it was, and what admission cost."""
    result = asyncio.run(simulate(teams, jobs))
    costs = [(seconds / jobs * 1e6, jobs) for seconds, jobs in result.passes]
    slowest, waiting = max(costs)
    seconds, waits = map(sum, zip(*result.passes, strict=True))
    sys.stdout.write(
        f"{teams} teams, {result.ended} jobs, {len(costs)} passes\n"
        f"a team's share is off by {result.unfairness:.1%} at most\n"
        f"admission: {seconds / waits * 1e6:.0f} us a waiting job in all passes,"
        f" {statistics.median(cost for cost, _ in costs):.0f} in the median pass,"
        f" {slowest:.0f} in the slowest, in which {waiting} waited\n"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
