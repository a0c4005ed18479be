"""`python -m bench`: every measurement in one interleaved run, as ratios. JSON and a table in .local/bench.

`--only floor,noop` chooses some, `--jobs 400 --rounds 4` the size. A ratio is taken within one round; shown
are its median and its spread over the rounds. Times mean nothing on a machine that does other things too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bench import cold, latency, peer, sweeping, throughput
from bench.floor import raw_floor, sdk_floor
from bench.world import ROOT, disk
from local.azurite import azurite

Round = Callable[[], Awaitable[dict[str, float]]]

#: What is asked of the project: title, figure, figure that it is divided by (none: as it is), bound.
TARGETS: tuple[tuple[str, str, str, str], ...] = (
    ("SDK floor / raw floor", "floor SDK jobs/s", "floor raw jobs/s", ""),
    ("no-op engine / raw floor", "no-op jobs/s", "floor raw jobs/s", "≥ 1.0"),
    ("emulator / raw floor", "emulator jobs/s", "floor raw jobs/s", ""),
    ("no-op engine / Celery, loopback", "no-op jobs/s", "Celery jobs/s", "≥ 0.75"),
    ("no-op engine / Celery, 5 ms", "no-op at 5 ms jobs/s", "Celery at 5 ms jobs/s", "≥ 4"),
    ("emulator / Celery with /bin/true", "emulator jobs/s", "Celery true jobs/s", ""),
    ("requests a job, no-op engine", "no-op requests/job", "", "≤ 3.0"),
    ("requests a job, emulator", "emulator requests/job", "", ""),
    ("worker CPU a job / Celery's", "no-op worker CPU ms/job", "Celery worker CPU ms/job", "≤ 1.0"),
    ("idle message → webhook / four round trips", "idle p50 ms", "four round trips p50 ms", "≤ 4"),
    ("sweep of 10,000, 2 % changed: CPU µs a job", "sweep 10000 2% CPU µs/job", "", "≤ 60"),
    ("sweep of 10,000, 2 %: calls of the engine", "sweep 10000 2% engine calls", "", "≤ 10"),
    ("sweep of 10,000 / SDK list", "sweep 10000 2% CPU µs/job", "SDK list CPU µs/job", "≤ 0.25"),
    ("sweep of 10,000 / SDK GET", "sweep 10000 2% CPU µs/job", "SDK GET CPU µs/job", "≤ 0.07"),
    ("import of the app / of every SDK", "import app ms", "import eager ms", "≤ 0.40"),
    ("dollars per million jobs, no-op engine", "no-op $/million", "", "≤ 2.50"),
)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, and keep both forms."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--jobs", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--rtt", type=float, default=5.0, help="milliseconds before the storage")
    parser.add_argument("--only", default="", help="names separated by commas; --list shows them")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--out", type=Path, default=ROOT / ".local" / "bench")
    options = parser.parse_args(arguments)
    items = _items(options.jobs, options.rtt)
    if options.list:
        sys.stdout.write("\n".join(items) + "\n")
        return 0
    chosen = options.only.split(",") if options.only else list(items)
    if unknown := set(chosen) - set(items):
        parser.error(f"there is no {', '.join(sorted(unknown))}; --list shows what there is")
    rounds = asyncio.run(_rounds({name: items[name] for name in chosen}, options.rounds))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "bench.json").write_text(json.dumps({"machine": machine(), "rounds": rounds}, indent=1))
    text = table(rounds)
    (options.out / "bench.md").write_text(text)
    sys.stdout.write(text)
    return 0


def _items(jobs: int, rtt: float) -> dict[str, Round]:
    return {
        "floor": partial(_floor, jobs),
        "noop": partial(throughput.dispatcher, jobs, noop=True),
        "celery": partial(_peer, jobs, 0.0, ""),
        "noop-rtt": partial(throughput.dispatcher, jobs, noop=True, rtt=rtt),
        "celery-rtt": partial(_peer, jobs, rtt, ""),
        "emulator": partial(throughput.dispatcher, jobs, noop=False),
        "emulator-rtt": partial(throughput.dispatcher, jobs, noop=False, rtt=rtt),
        "celery-true": partial(_peer, jobs, 0.0, shutil.which("true") or "/bin/true"),
        "idle": partial(latency.idle, min(jobs, 100)),
        "sweep": _sweep,
        "cold": _cold,
    }


async def _floor(jobs: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="slipway-bench-", dir=disk()) as folder:
        async with azurite(Path(folder), on_request=lambda _: None) as storage:
            found = await raw_floor(storage.connection_string, jobs)
            return found | await sdk_floor(storage.connection_string, jobs)


async def _peer(jobs: int, rtt: float, command: str) -> dict[str, float]:
    if why := peer.missing():
        sys.stdout.write(f"Celery is skipped: {why}\n")
        return {}
    return await peer.celery(jobs, rtt=rtt, command=command)


async def _sweep() -> dict[str, float]:
    found = await sweeping.one_by_one(500)
    for active in (100, 1_000, 10_000):
        for changed in (0.0, 0.02):
            found |= await sweeping.sweep_of(active, changed)
    return found


async def _cold() -> dict[str, float]:
    return await asyncio.to_thread(cold.cold)


async def _rounds(items: dict[str, Round], number: int) -> list[dict[str, float]]:
    rounds = []
    for at in range(number):
        found: dict[str, float] = {}
        for name, item in items.items():
            sys.stdout.write(f"round {at + 1} of {number}: {name}\n")
            sys.stdout.flush()
            found |= await item()
        rounds.append(found)
    return rounds


def table(rounds: list[dict[str, float]]) -> str:
    """The ratios, then every figure, as Markdown: median and spread over the rounds."""
    lines = [f"{machine()}, {len(rounds)} rounds", "", "| | median | spread | wanted |", "|---|---|---|---|"]
    for title, above, below, bound in TARGETS:
        found = [
            r[above] / (r[below] if below else 1.0)
            for r in rounds
            if above in r and (not below or below in r)
        ]
        if found:
            lines.append(f"| {title} | {_number(statistics.median(found))} | {_spread(found)} | {bound} |")
    lines += ["", "| figure | median | spread |", "|---|---|---|"]
    for name in rounds[0]:
        found = [one[name] for one in rounds if name in one]
        lines.append(f"| {name} | {_number(statistics.median(found))} | {_spread(found)} |")
    return "\n".join(lines) + "\n"


def machine() -> str:
    """What it ran on, and how busy that was."""
    cpuinfo = Path("/proc/cpuinfo")
    model = next(
        (line.partition(":")[2].strip() for line in _lines(cpuinfo) if line.startswith("model name")), ""
    )
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}, node {node}"
    today, load = f"{datetime.now(UTC):%Y-%m-%d}", os.getloadavg()[0]
    return f"{today}: {os.cpu_count()} cores {model}, {system}, load {load:.1f}"


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def _spread(found: list[float]) -> str:
    return f"{_number(min(found))} … {_number(max(found))}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
