"""What the Batch AI emulator can do, through its HTTP API: `python -m bench.emulator`.

Prints how many jobs a second end when 500 single-node jobs of `true` are queued for 8 nodes; what processor
time a job takes, in the emulator and in what it starts, beside the bare cost of starting as many processes;
and how long pages of long lists take.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import psutil

from local.process import child

_ROOT = Path(__file__).parents[1]
_GROUP = "/subscriptions/bench/resourceGroups/bench"
_BASE = f"{_GROUP}/providers/Microsoft.BatchAI/workspaces/"
_ACCOUNT, _KEY = "devstoreaccount1", "a2V5"
#: Jobs write to a share, as nearly all did.
_LOGS = {
    "accountName": _ACCOUNT,
    "azureFileUrl": f"https://{_ACCOUNT}.file.core.windows.net/logs",
    "credentials": {"accountKey": _KEY},
    "relativeMountPath": "logs",
}
_NODES, _CLUSTERS, _IN_FLIGHT, _LOOK_EVERY = 8, 200, 16, 0.1


class Api:
    """The few requests that are needed, checked."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url

    async def send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The answer's document, or None."""
        if path.startswith("/"):
            url = self._url + path
        else:
            url = path if path.startswith("http") else f"{self._url}{_BASE}{path}"
        version = {} if "api-version" in url else {"api-version": "2018-05-01"}
        async with self._session.request(method, url, params=version, json=body) as answer:
            text = await answer.text()
            if answer.status >= 300:
                raise SystemExit(f"{method} {url}: {answer.status} {text}")
            return await answer.json() if text else None

    async def workspace(self, name: str) -> None:
        """A workspace with a cluster `c` and an experiment `e`."""
        await self.send("PUT", _GROUP, {"location": "eastus"})
        await self.send("PUT", name, {"location": "eastus"})
        await self.send("PUT", f"{name}/experiments/e")
        await self.cluster(name, "c")

    async def cluster(self, workspace: str, name: str, nodes: int = 0) -> None:
        """A cluster of that size."""
        user = {"adminUserName": "bench", "adminUserPassword": "not-used"}
        properties = {"vmSize": "STANDARD_D1", "userAccountSettings": user, **_manual(nodes)}
        await self.send("PUT", f"{workspace}/clusters/{name}", {"properties": properties})

    async def jobs(self, workspace: str, count: int) -> float:
        """Put jobs into the queue; how many it took per second."""
        cluster = f"{_BASE}{workspace}/clusters/c"
        properties = {
            "cluster": {"id": cluster},
            "nodeCount": 1,
            "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs",
            "mountVolumes": {"azureFileShares": [_LOGS]},
            "customToolkitSettings": {"commandLine": "true"},
        }
        start = time.perf_counter()
        await _run_all(
            lambda number: self.send(
                "PUT", f"{workspace}/experiments/e/jobs/job-{number}", {"properties": properties}
            ),
            count,
        )
        return count / (time.perf_counter() - start)

    async def pages(self, path: str) -> tuple[int, list[float]]:
        """How many entries a list has, and how many seconds each of its pages took."""
        number, times, link = 0, [], path
        while link:
            start = time.perf_counter()
            page = await self.send("GET", link)
            times.append(time.perf_counter() - start)
            number += len(page["value"])
            link = page.get("nextLink")
        return number, times


def _manual(nodes: int) -> dict[str, Any]:
    return {"scaleSettings": {"manual": {"targetNodeCount": nodes}}}


async def _run_all(work: Callable[[int], Awaitable[object]], count: int, at_once: int = _IN_FLIGHT) -> None:
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await work(number)

    await asyncio.gather(*(worker() for _ in range(at_once)))


async def throughput(api: Api, count: int) -> float:
    """Jobs per second, from the queue to their end."""
    await api.send("PATCH", "run/clusters/c", {"properties": _manual(_NODES)})
    start = time.perf_counter()
    # Looking at one job costs next to nothing. The last need not end last, so all are looked at in the end.
    for number in range(count - 1, -1, -1):
        while (state := await _state(api, number)) != "succeeded":
            if state == "failed":
                raise SystemExit(f"job {number} failed")
            await asyncio.sleep(_LOOK_EVERY)
    return count / (time.perf_counter() - start)


async def _state(api: Api, number: int) -> str:
    job = await api.send("GET", f"run/experiments/e/jobs/job-{number}")
    return str(job["properties"]["executionState"])


async def bare(count: int) -> float:
    """Processes a second that this machine starts now: a `bash -c true` under a bare Python each, 8 at once.

    That is the minimum for a job that outlives its emulator, with any launcher.
    """
    program = "import subprocess; subprocess.call(['bash', '-c', 'true'])"

    async def one(_: int) -> None:
        process = await asyncio.create_subprocess_exec(sys.executable, "-I", "-S", "-c", program)
        await process.wait()

    start = time.perf_counter()
    await _run_all(one, count, _NODES)
    return count / (time.perf_counter() - start)


async def run(api: Api, emulator: psutil.Process, count: int) -> None:
    """The jobs, and as many bare processes before and after: the machine may be busy with other things."""
    ours = psutil.Process()
    own, first = _processor_seconds(ours), await bare(count)
    single = (_processor_seconds(ours)[1] - own[1]) / count
    await api.workspace("run")
    accepted = await api.jobs("run", count)
    before = _processor_seconds(emulator)
    rate = await throughput(api, count)
    spent = [
        (after - was) / count * 1000 for after, was in zip(_processor_seconds(emulator), before, strict=True)
    ]
    last = await bare(count)
    sys.stdout.write(
        f"{count} jobs on {_NODES} nodes: {rate:.1f} a second (accepted at {accepted:.0f} a second)\n"
        f"a job takes {spent[0]:.1f} ms of processor time in the emulator, {spent[1]:.1f} ms in processes\n"
        f"bare processes: {first:.0f} a second before, {last:.0f} after; one takes {single * 1000:.1f} ms\n"
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n"
    )


def _processor_seconds(process: psutil.Process) -> tuple[float, float]:
    """Seconds of processor time: its own, and of all that it and its children have started."""
    times = process.cpu_times()
    own, others = times.user + times.system, times.children_user + times.children_system
    return own, others + sum(sum(_processor_seconds(one)) for one in process.children())


async def lists(api: Api, clusters: int, jobs: int) -> None:
    """Long lists, page by page."""
    await api.workspace("long")
    await _run_all(lambda number: api.cluster("long", f"cluster-{number}"), clusters - 2)
    rate = await api.jobs("long", jobs)
    sys.stdout.write(f"{jobs} jobs accepted at {rate:.0f} a second\n")
    for path in ("long/clusters", "long/experiments/e/jobs"):
        many, times = await api.pages(path)
        middle, longest = statistics.median(times) * 1000, max(times) * 1000
        sys.stdout.write(
            f"{path}: {many} in {len(times)} pages of {middle:.0f} ms, the longest {longest:.0f} ms\n"
        )


async def main(options: argparse.Namespace) -> None:
    """Run it all, and print what was found."""
    with tempfile.TemporaryDirectory() as data:
        async with child(_emulator(data), name="the emulator", cwd=_ROOT, on_line=_show) as emulator:
            url = (await emulator.line(r"^ready (\S+)$"))[1]
            timeout = aiohttp.ClientTimeout(total=None)
            async with aiohttp.ClientSession(timeout=timeout) as session:
                api = Api(session, url)
                await run(api, psutil.Process(emulator.pid), options.jobs)
                if options.long:
                    await lists(api, _CLUSTERS, options.long)


def _emulator(data: str) -> list[str]:
    """Its command line, on data where the jobs' share is already."""
    Path(data, "shares", _ACCOUNT, "logs").mkdir(parents=True)
    argv = [sys.executable, "-m", "local.batchai", "--data", data, "--until-stdin-closes"]
    argv += ["--storage-connection-string", f"AccountName={_ACCOUNT};AccountKey={_KEY}"]
    return [*argv, "--provisioning-seconds", "0", "--idle-seconds", "0", "--leaving-seconds", "0"]


def _show(line: str) -> None:
    if not line.startswith("ready"):
        sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.emulator", description=__doc__)
    parser.add_argument("--jobs", type=int, default=500, help="jobs to run (default: %(default)s)")
    parser.add_argument("--long", type=int, default=10_000, help="jobs to list; 0 to leave it out")
    asyncio.run(main(parser.parse_args()))
