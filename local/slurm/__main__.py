"""`python -m local.slurm`: run the mini cluster until Ctrl-C."""

import argparse
import asyncio
import sys
from pathlib import Path

from local.slurm.cluster import Slurm
from local.slurm.programs import SlurmError
from local.slurm.start import Options, slurm
from local.stop import stop_event

_ROOT = Path(__file__).resolve().parents[2]
_PORT = 6820


def main() -> int:
    """The exit code; 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(
        prog="python -m local.slurm", description="An elastic Slurm on this machine."
    )
    parser.add_argument(
        "--data", type=Path, default=_ROOT / ".local" / "slurm", help="directory of everything"
    )
    parser.add_argument(
        "--port", type=int, default=_PORT, help=f"port of slurmrestd; 0 for any free one (default: {_PORT})"
    )
    arguments = parser.parse_args()
    try:
        return asyncio.run(_serve(Options(data=arguments.data, port=arguments.port)))
    except SlurmError as error:
        sys.stderr.write(f"slurm: {error}\n")
        return 1


async def _serve(options: Options) -> int:
    stop = stop_event(until_stdin_closes=False)
    async with slurm(options) as cluster:
        sys.stdout.write("\n".join(guide(cluster)) + "\n")
        sys.stdout.flush()
        ended = [asyncio.ensure_future(process.wait()) for process in cluster.processes]
        stopping = asyncio.ensure_future(stop.wait())
        await asyncio.wait({stopping, *ended}, return_when=asyncio.FIRST_COMPLETED)
        for waiting in (stopping, *ended):
            waiting.cancel()
        if not stop.is_set():
            names = ", ".join(process.name for process in cluster.processes if process.returncode is not None)
            raise SlurmError(f"{names} ended by itself; see {cluster.logs}")
    return 0


def guide(cluster: Slurm) -> list[str]:
    """The text for the person: what to export, and what can be done with it."""
    return [
        f"ready {cluster.url}",
        "",
        cluster.exports,
        "sinfo; squeue; srun --nodes=2 hostname",
        f"curl -s -H 'X-SLURM-USER-NAME: {cluster.user}' \\",
        '  -H "X-SLURM-USER-TOKEN: $(scontrol token | cut -d= -f2)" \\',
        f"  {cluster.url}{cluster.api}/nodes",
        "",
        f"Partitions: {', '.join(cluster.partitions)}; the nodes of the first one start for jobs.",
        f"All nodes see {cluster.shared}. Key that signs tokens: {cluster.jwt_key}. Logs: {cluster.logs}.",
        "Ctrl-C stops everything; jobs and their state are kept.",
    ]


if __name__ == "__main__":
    sys.exit(main())
