"""`python -m tests.chaos`: the whole system under kills and faults, and the verdict.

Storage and the cluster's API stand behind proxies that fail; a worker process is killed every few seconds,
and storage now and then; services accept slowly; each job is sent up to three times, and many receivers
fail at first. Kills end when every job has run. What is then unfinished has to be settled within three
passes. All periods are a sixth of their defaults.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from pathlib import Path

import psutil

from local.azurite import ACCOUNT, KEY
from local.clusters.registry import USUAL
from local.patience import Patience
from local.stack import Options, Stack, stack
from shared.settings import Settings
from slipway.stack.provision import Plan, provision
from tests.chaos import evidence
from tests.chaos.batch import GANGS, MortalBatch
from tests.chaos.checker import Verdict, judge
from tests.chaos.person import Gateway, Person
from tests.chaos.proxy import Odds, Proxy
from tests.chaos.sender import Sender
from tests.chaos.storage import MortalStorage

_NODES = 8
_PASS_SECONDS = 10
_PASSES = 3
#: On Azure Batch more: a run waits up to 20 s for the end of one before it, whose node has gone.
_PASSES_ON_BATCH = 5
_GIVE_UP_AFTER = 12
_LOOK_EVERY = 2.0
_TELL_EVERY = 10.0
#: Of what happens to a Batch account, the share that is a kill of the service itself.
_KILLED = 0.4
#: Kills in a row without a job that begins, from which on they become rarer.
_FRUITLESS = 4
#: Seconds for the cluster to run what it has, once everything is sent.
_PATIENCE = 900.0
_INTERRUPTED = re.compile(r"ended \(exit code -9\) with (\d+) invocations")
_ENDED = re.compile(r"ended \(exit code (-?\d+)\)")
_SETTINGS = {
    "SLIPWAY_SWEEPER_SCHEDULE": f"*/{_PASS_SECONDS} * * * * *",
    "SLIPWAY_INVENTORY_SECONDS": "20",
    "SLIPWAY_DELIVER_GRACE_SECONDS": "5",
    "SLIPWAY_SUBMIT_LEASE_SECONDS": "10",
    # Its storage is killed, and raises no events.
    "SLIPWAY_BLOB_SOURCE": "LogsAndContainerScan",
    "LOCAL_HOST_BLOB_SCAN_SECONDS": "2",
    # A sixth of ten minutes, of 24 s and of a minute; a lease lasts 15 s at least.
    "LOCAL_HOST_HIDDEN_SECONDS": "100",
    "LOCAL_HOST_OUTAGE_SECONDS": "4",
    "LOCAL_HOST_TIMER_LEASE_SECONDS": "15",
    "LOCAL_HOST_TIMER_RETRY_SECONDS": "10",
}
_EMULATOR = ("--provisioning-seconds=0", "--leaving-seconds=0", "--idle-seconds=60")


class Chaos:
    """One run: a system that is up, and what happens to it."""

    def __init__(self, options: argparse.Namespace, data: Path) -> None:
        self.options = options
        self.data = data
        self.dice = random.Random(options.seed)
        self.log = data / "engine.log"
        self.killed = 0
        #: jobs that had begun at the last kill, and kills since one began
        self._began, self._fruitless = 0, 0
        self.storage = MortalStorage(data / "azurite")
        self.batch = MortalBatch(data / "azurebatch", self.dice) if options.cluster == "batch" else None
        odds = Odds(options.unavailable, options.throttled, options.lost, options.slow)
        self.proxies = {name: Proxy(odds, self.dice) for name in ("blob", "queue", "table", "cluster")}
        self.proxies["app"] = Gateway(odds, self.dice)

    @asynccontextmanager
    async def system(self) -> AsyncIterator[Stack]:
        """The local stack, its app behind the proxies."""
        async with AsyncExitStack() as running:
            for proxy in self.proxies.values():
                await running.enter_async_context(proxy.running())
            url = {name: proxy.url for name, proxy in self.proxies.items()}
            storage = (
                f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"
                f"BlobEndpoint={url['blob']}/{ACCOUNT};QueueEndpoint={url['queue']}/{ACCOUNT};"
                f"TableEndpoint={url['table']}/{ACCOUNT};"
            )
            overrides = _SETTINGS | {
                "SLIPWAY_STORAGE": storage,
                "FUNCTIONS_WORKER_PROCESS_COUNT": str(self.options.workers),
            }
            alive = await running.enter_async_context(self.storage.running())
            if self.batch:
                await running.enter_async_context(self.batch.running())
                overrides |= await self.batch.settings(url["cluster"], alive.connection_string, _NODES)
            else:
                overrides["SLIPWAY_BATCHAI_URL"] = url["cluster"]
            options = Options(
                data=self.data,
                overrides=overrides,
                cluster=None if self.batch else USUAL,
                cluster_arguments=() if self.batch else _EMULATOR,
                storage=nullcontext(alive),
            )
            system = await running.enter_async_context(stack(options, self._provision))
            if self.batch:
                await running.enter_async_context(self.batch.mounted(alive.connection_string))
            yield system

    async def _provision(self, settings: Mapping[str, str]) -> None:
        """Tell the proxies whom they stand for, and create what is needed, past them."""
        direct = settings["AzureWebJobsStorage"]
        parts = dict(part.partition("=")[::2] for part in direct.split(";") if part)
        for name in ("blob", "queue", "table"):
            self.proxies[name].stand_for(parts[f"{name.title()}Endpoint"])
        self.proxies["cluster"].stand_for(self.batch.url if self.batch else parts["FileEndpoint"])
        past = {"SLIPWAY_STORAGE": direct}
        if self.batch:
            clusters = settings["SLIPWAY_CLUSTERS"]
            past["SLIPWAY_CLUSTERS"] = clusters.replace(self.proxies["cluster"].url, self.batch.url)
        else:
            past["SLIPWAY_BATCHAI_URL"] = self.proxies["cluster"].target
        async for _ in provision(Settings({**settings, **past}), Plan(maximum=_NODES, minimum=_NODES)):
            pass

    async def run(self, system: Stack) -> tuple[Verdict, int]:
        """Send, kill, wait for quiet; the verdict, and how many passes that took after the last kill."""
        command = f'echo "$SLIPWAY_JOB_ID $SLIPWAY_ATTEMPT" >> {self.log}'
        self.proxies["app"].stand_for(system.host_url)
        person = Person(self.proxies["app"].url, system.settings, self.dice)
        sender = Sender(system, person, command, self.dice, gangs=GANGS if self.batch else 0)
        host_log = system.logs / "host.log"
        telling = asyncio.create_task(self._tell(sender))
        killing = [asyncio.create_task(self._kill(system)), asyncio.create_task(self._kill_storage())]
        if self.batch:
            killing.append(asyncio.create_task(self._kill_batch(self.batch)))
        sending = asyncio.create_task(sender.send(self.options.jobs))
        try:
            # Without its storage, which may fail to come back, a sender tries for ever.
            await asyncio.wait([sending, *killing], return_when=asyncio.FIRST_COMPLETED)
            for failed in filter(asyncio.Task.done, killing):
                failed.result()
            await sending
            await self._all_ran(killing)
            await _ended(killing)
            before = _passes(host_log)
            while True:
                verdict = await self._judge(system, sender)
                verdict.other += await person.untold()
                passes = max(0, _passes(host_log) - before)
                if verdict.good or passes > _GIVE_UP_AFTER:
                    return verdict, passes
                await asyncio.sleep(_LOOK_EVERY)
        finally:
            telling.cancel()
            person.leave()
            await _ended([sending, *killing])

    async def _judge(self, system: Stack, sender: Sender) -> Verdict:
        table = Settings(system.settings).text("SLIPWAY_LEDGER_TABLE")
        return judge(
            sender.acknowledged,
            await evidence.records(system.storage.connection_string, table),
            evidence.starts(self.log),
            evidence.deliveries_of(system.deliveries),
            await self.batch.begun_again() if self.batch else {},
        )

    def _pause(self, every: float) -> float:
        """Seconds until the next kill: more where the machine is so busy that no job begins between two."""
        if (began := len(set(evidence.starts(self.log)))) > self._began:
            self._began, self._fruitless = began, 0
        self._fruitless += 1
        return every * self.dice.uniform(0.5, 1.5) * max(1.0, self._fruitless / _FRUITLESS)

    async def _kill(self, system: Stack) -> None:
        (host,) = (process for process in system.processes if process.name == "the host")
        while True:
            await asyncio.sleep(self._pause(self.options.kill_every))
            workers = psutil.Process(host.pid).children()
            if workers:
                with suppress(psutil.NoSuchProcess):
                    self.dice.choice(workers).kill()
                    self.killed += 1

    async def _kill_storage(self) -> None:
        """Kill it at any moment; it is left alone only while it comes back."""
        every = self.options.kill_storage_every or math.inf
        while True:
            await asyncio.sleep(self._pause(every))
            killing = asyncio.create_task(self.storage.kill())
            try:
                await asyncio.shield(killing)
            finally:
                await killing  # it comes back before anyone looks at what is left

    async def _kill_batch(self, batch: MortalBatch) -> None:
        """Kill the service, or take nodes away, in turns that the dice choose."""
        every = self.options.kill_storage_every or math.inf
        while True:
            await asyncio.sleep(every * self.dice.uniform(0.3, 0.9))
            act = asyncio.create_task(batch.kill() if self.dice.random() < _KILLED else batch.preempt())
            try:
                await asyncio.shield(act)
            finally:
                await act

    async def _all_ran(self, killing: list[asyncio.Task[None]]) -> None:
        patience = Patience(_PATIENCE)
        while (ran := len(set(evidence.starts(self.log)))) < self.options.jobs:
            if patience.is_over(ran):
                raise TimeoutError(f"no job has run for {_PATIENCE:g} s; {ran} have")
            done, _ = await asyncio.wait(killing, timeout=_LOOK_EVERY)
            for failed in done:
                failed.result()

    async def _tell(self, sender: Sender) -> None:
        begin = time.monotonic()
        while True:
            await asyncio.sleep(_TELL_EVERY)
            faults = sum(proxy.faults for proxy in self.proxies.values())
            say(
                f"{time.monotonic() - begin:5.0f} s  sent {len(sender.acknowledged)}  "
                f"ran {len(evidence.starts(self.log))}  workers killed {self.killed}  "
                f"storage killed {self.storage.kills}  {self._of_batch()}faults {faults}"
            )

    def _of_batch(self) -> str:
        return (
            f"service killed {self.batch.kills}  nodes taken {self.batch.preempted}  " if self.batch else ""
        )


async def _ended(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel them, and raise what one of them failed with."""
    for task in tasks:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(ended, Exception):
            raise ended


def _allowed(options: argparse.Namespace) -> int:
    return _PASSES_ON_BATCH if options.cluster == "batch" else _PASSES


def _passes(host_log: Path) -> int:
    return host_log.read_text().count("function sweeper succeeded")


def say(text: str) -> None:
    """One line for the person who waits."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


async def chaos(options: argparse.Namespace, data: Path) -> tuple[bool, int]:
    """One run, reported. Whether the promise held, and how many passes what was unfinished took."""
    run = Chaos(options, data)
    async with run.system() as system:
        verdict, passes = await run.run(system)
        log = (system.logs / "host.log").read_text()
    interrupted = sum(map(int, _INTERRUPTED.findall(log)))
    ended = [code for code in _ENDED.findall(log) if code != "-9"]
    requests = sum(proxy.counts["requests"] for proxy in run.proxies.values())
    faults = sum(proxy.faults for proxy in run.proxies.values())
    standstills = sum(proxy.counts["standstills"] for proxy in run.proxies.values())
    for line in verdict.lines():
        say(line)
    say(f"workers killed    {run.killed:>7}, with {interrupted} invocations in progress, all recovered")
    ends = log.count("the host ends")
    say(f"hosts that ended  {ends:>7}, by deaths of workers or for want of storage, each with a next one")
    say(f"storage killed    {run.storage.kills:>7}, and back with all that it had acknowledged")
    if run.batch:
        say(f"service killed    {run.batch.kills:>7}, and {run.batch.preempted} nodes taken away")
    say(f"faults            {faults:>7} of {requests} requests")
    say(f"standstills       {standstills:>7} of a service that accepted no connection")
    say(f"workers that ended by themselves  {len(ended)}{', exit codes ' if ended else ''}{', '.join(ended)}")
    say(f"passes to settle  {passes:>7} after the last kill, of {_allowed(options)} allowed")
    return verdict.good and not ended, passes


def options_of(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument(
        "--cluster", choices=("emulator", "batch"), default="emulator", help="of Batch AI, or of Azure Batch"
    )
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=3, help="worker processes of the host")
    parser.add_argument("--kill-every", type=float, default=4.0, help="seconds, on average")
    parser.add_argument(
        "--kill-storage-every", type=float, default=30.0, help="seconds, on average; 0: never"
    )
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="of the dice")
    parser.add_argument("--unavailable", type=float, default=0.10, help="share of requests answered 503")
    parser.add_argument("--throttled", type=float, default=0.02, help="share answered 429")
    parser.add_argument("--lost", type=float, default=0.02, help="share whose answer is lost")
    parser.add_argument(
        "--slow",
        type=float,
        default=0.01,
        help="share of connections behind which a service accepts no other",
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """0 when nothing was lost, doubled or left untold, else 1; then everything is kept for a look."""
    options = options_of(arguments)
    data = Path(tempfile.mkdtemp(prefix="slipway-chaos-"))
    say(f"chaos: {options.jobs} jobs, {options.workers} workers, seed {options.seed}")
    good, passes = asyncio.run(chaos(options, data))
    if good and passes <= _allowed(options):
        shutil.rmtree(data)
    else:
        say(f"chaos FAILED; everything is kept in {data}")
    return 0 if good and passes <= _allowed(options) else 1


if __name__ == "__main__":
    sys.exit(main())
