"""`python -m bench`: every measurement in one interleaved run, as ratios. JSON and a table in .local/bench.

`--only floor,noop` chooses some, `--jobs 400 --rounds 4 --idle 60` the size. A ratio is taken within one
round; shown are its median and its spread over the rounds. Times mean nothing on a machine that does other
things too. What has been measured is kept after every round; a measurement that fails is reported, and the
others go on: the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bench import cold, download, idle, latency, listing, passes, throughput
from bench import spec as documents
from bench.celery import peer
from bench.drops import code, folders
from bench.floor import raw_floor, sdk_floor
from bench.table import markdown, ratios
from bench.world import ROOT, disk
from local.azurite import azurite

Figures = dict[str, float]
Item = Callable[[], Awaitable[Figures]]
#: Seconds that one measurement may take.
_PATIENCE = 900.0


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, and keep both forms."""
    options, items = _read(arguments)
    if options.list:
        sys.stdout.write("\n".join(items) + "\n")
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    size = f"{options.jobs} jobs, {options.rtt:g} ms of round trip, {options.idle:g} s of idleness"
    rounds: list[Figures] = []
    failed: list[str] = []
    for at in range(options.rounds):
        sys.stdout.write(f"round {at + 1} of {options.rounds}\n")
        rounds.append(one_round(items, failed))
        _keep(options.out, f"{machine()}, {size}", rounds, failed)
    sys.stdout.write((options.out / "bench.md").read_text(encoding="utf-8"))
    sys.stdout.writelines(f"FAILED: {each}\n" for each in failed)
    return 1 if failed else 0


def one_round(items: Mapping[str, Item], failed: list[str]) -> Figures:
    """Every measurement once. What goes wrong is added to `failed`, and costs nothing but its own figures."""
    figures: Figures = {}
    for name, item in items.items():
        sys.stdout.write(f"{time.strftime('%H:%M:%S')} {name}\n")
        sys.stdout.flush()
        try:
            figures |= asyncio.run(_bounded(item))
        except Exception as error:  # noqa: BLE001 - half an hour of measuring is not lost for it
            failed.append(f"{name}: {error!r}"[:1000])
    return figures


async def _bounded(item: Item) -> Figures:
    async with asyncio.timeout(_PATIENCE):
        return await item()


def _keep(out: Path, about: str, rounds: list[Figures], failed: list[str]) -> None:
    whole = {"about": about, "ratios": ratios(rounds), "rounds": rounds, "failed": failed}
    (out / "bench.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False), encoding="utf-8")
    (out / "bench.md").write_text(markdown(about, rounds), encoding="utf-8")


def _read(arguments: list[str] | None) -> tuple[argparse.Namespace, dict[str, Item]]:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--jobs", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--rtt", type=float, default=5.0, help="milliseconds before the storage")
    parser.add_argument("--idle", type=float, default=60.0, help="seconds in which nothing happens")
    parser.add_argument("--finished", type=int, default=100_000, help="jobs that long lists are over")
    parser.add_argument("--megabytes", type=float, default=1_000.0, help="that a job wrote, for `download`")
    parser.add_argument("--files", type=int, default=4_000, help="that they are in, beside one")
    parser.add_argument("--dropped", type=int, default=1_000, help="files of one drop, for `folders`")
    parser.add_argument("--only", default="", help="names separated by commas; --list shows them")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--out", type=Path, default=ROOT / ".local" / "bench")
    options = parser.parse_args(arguments)
    items = _items(options.jobs, options.rtt, options.idle, options.finished)
    items["download"] = partial(download.download, options.megabytes, options.files)
    items["code"] = partial(code.code, 1_000)
    items["folders"] = partial(folders.folders, options.dropped)
    chosen = options.only.split(",") if options.only else list(items)
    if unknown := set(chosen) - set(items):
        parser.error(f"there is no {', '.join(sorted(unknown))}; --list shows what there is")
    return options, {name: items[name] for name in chosen}


def _items(jobs: int, rtt: float, seconds: float, finished: int) -> dict[str, Item]:
    return {
        "floor": partial(_floor, jobs),
        "noop": partial(throughput.dispatcher, jobs, noop=True),
        "celery": partial(_peer, jobs, 0.0, ""),
        "noop-rtt": partial(throughput.dispatcher, jobs, noop=True, rtt=rtt),
        "celery-rtt": partial(_peer, jobs, rtt, ""),
        "emulator": partial(throughput.dispatcher, jobs, noop=False),
        "emulator-rtt": partial(throughput.dispatcher, jobs, noop=False, rtt=rtt),
        "celery-true": partial(_peer, jobs, 0.0, shutil.which("true") or "/bin/true"),
        "latency": partial(latency.idle, min(jobs, 100)),
        "idle": partial(idle.idle, seconds),
        "pass": _pass,
        "pass-table": _pass_table,
        "lists": partial(_lists, 2_000),
        "lists-long": partial(listing.long_pages, finished, rtt),
        "cold": _cold,
        "spec": _spec,
    }


async def _floor(jobs: int) -> Figures:
    with tempfile.TemporaryDirectory(prefix="slipway-bench-", dir=disk()) as folder:
        async with azurite(Path(folder), on_request=lambda _: None) as storage:
            figures = await raw_floor(storage.connection_string, jobs)
            return figures | await sdk_floor(storage.connection_string, jobs)


async def _peer(jobs: int, rtt: float, command: str) -> Figures:
    if why := peer.why_not_installed():
        sys.stdout.write(f"Celery is skipped: {why}\n")
        return {}
    return await peer.celery(jobs, rtt=rtt, command=command)


async def _pass() -> Figures:
    figures = await passes.one_by_one(500)
    for active in (100, 1_000, 10_000):
        for changed in (0.0, 0.02):
            figures |= await passes.pass_over(active, changed)
    return figures


async def _pass_table() -> Figures:
    figures: Figures = {}
    with tempfile.TemporaryDirectory(prefix="slipway-bench-", dir=disk()) as folder:
        async with azurite(Path(folder)) as storage:
            for active in (100, 1_000, 10_000):
                for changed in (0.0, 0.02):
                    figures |= await passes.pass_over(active, changed, storage.connection_string)
    return figures


async def _lists(finished: int) -> Figures:
    with tempfile.TemporaryDirectory(prefix="slipway-bench-", dir=disk()) as folder:
        async with azurite(Path(folder)) as storage:
            return await listing.pages(storage.connection_string, finished)


async def _cold() -> Figures:
    return await asyncio.to_thread(cold.imports) | await cold.first_message()


async def _spec() -> Figures:
    ours, theirs = (await asyncio.to_thread(documents.clean))["distributed"]
    return {"document µs": ours * 1e6, "document json.loads µs": theirs * 1e6}


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


if __name__ == "__main__":
    sys.exit(main())
