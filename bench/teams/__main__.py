"""Teams that share a cluster: fairness, and the cost of admission: `python -m bench.teams [TEAMS [JOBS]]`."""

from __future__ import annotations

import asyncio
import statistics
import sys

from bench.teams.simulation import simulate


def main(teams: int = 20, jobs: int = 5_000) -> None:
    """Print how fair it was, and what admission cost."""
    result = asyncio.run(simulate(teams, jobs))
    costs = [cost * 1e6 for cost in result.costs]
    sys.stdout.write(
        f"{teams} teams, {result.ended} jobs, {len(costs)} passes\n"
        f"a team's share is off by {result.unfairness:.1%} at most\n"
        f"admission: {statistics.median(costs):.0f} us a waiting job in the median pass,"
        f" {max(costs):.0f} in the slowest\n"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
