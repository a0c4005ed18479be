"""`slipway demo`: runs the whole system on this machine and four jobs on it, reported live."""

import asyncio
import shutil
import tempfile
import time
from pathlib import Path

from local.clusters.registry import CLUSTERS, USUAL
from local.patience import Patience
from local.stack import Options, Stack
from shared.settings import Settings
from slipway.client.drops.upload import upload
from slipway.client.jobs.watch import Watch
from slipway.client.jobs.words import ENDED
from slipway.client.service import Service, service
from slipway.commands.enqueue.enqueue import enqueue
from slipway.failure import Failure
from slipway.settings import ROOT, display_path
from slipway.stack.demo_checks import check, dropped, show
from slipway.stack.demo_jobs import EXAMPLES, demo_jobs
from slipway.stack.provision import Plan, Step
from slipway.stack.running import run_until_stopped, running, starts, while_it_runs
from slipway.stack.setup import by_kind
from slipway.terminal.screen import Line, Screen, screen

PLAN = Plan(maximum=2)
#: Nodes come and go in seconds here, and the sweeper runs every second.
_QUICK = ("--provisioning-seconds=1", "--idle-seconds=1", "--leaving-seconds=0.5")
#: No inventory: it would find the drops too, and hide a missing event.
_SETTINGS = {"SLIPWAY_SWEEPER_SCHEDULE": "* * * * * *", "SLIPWAY_INVENTORY_SECONDS": "0"}
_JOBS = 4
_LOOK_EVERY = 0.4
#: Seconds without progress after which the demo fails.
_PATIENCE = 120.0
_INTERRUPTED = 130
_SHOWN_LINES = 15


def run(cluster: str = USUAL) -> int:
    """0 if everything was as expected; else 1, after showing the reason and the path of the logs."""
    (ROOT / ".local").mkdir(exist_ok=True)
    data = Path(tempfile.mkdtemp(prefix="demo-", dir=ROOT / ".local"))
    out = screen(time.monotonic)
    try:
        code = run_until_stopped(_report(out, options_of(data, cluster)), interrupted=_INTERRUPTED)
    except Failure as failure:
        if not any((data / "logs").glob("*.log")):  # nothing was started, so this line is enough
            shutil.rmtree(data)
            raise
        _explain(out, failure, data)
        return 1
    shutil.rmtree(data)
    if code == 0:
        out.write(f"demo: {_JOBS - 1} jobs succeeded, 1 rejected, {_JOBS} webhooks verified")
        out.write("next: `make up` keeps it running; then `slipway run FOLDER` in a second terminal")
    return code


def options_of(data: Path, cluster: str) -> Options:
    """The options of the demo's stack, with jobs on that local cluster."""
    return Options(
        data=data,
        overrides=_SETTINGS,
        cluster=cluster,
        nodes=PLAN.maximum,
        cluster_arguments=_QUICK if CLUSTERS[cluster].takes_options else (),
    )


async def _report(screen: Screen, options: Options) -> int:
    screen.say(Line("slipway", starts(options)))

    def provisioned(steps: list[Step]) -> None:
        for line in by_kind(steps):
            screen.say(Line("setup", line))

    async with running(options, PLAN, provisioned) as stack, service(stack.host_url) as api:
        screen.say(Line("slipway", f"is up: {stack.host_url}/api/ui/ shows it in a browser"))
        watch = Watch(api, screen.say)
        grows = CLUSTERS[options.cluster or USUAL].spreads_jobs
        examples = demo_jobs(options.data, spread=grows)
        await while_it_runs(stack, work(screen, stack, api, watch, examples, grows=grows))
        parts = await check(stack, api, list(watch.jobs.values()), watch.peak if grows else None)
        show(screen, parts)
        screen.say(Line("slipway", "stops"))
    failed = [part for part in parts if part.trouble]
    if failed:
        raise Failure("; ".join(f"{part.name}: {part.trouble}" for part in failed))
    return 0


async def work(
    screen: Screen, stack: Stack, api: Service, watch: Watch, examples: Path = EXAMPLES, *, grows: bool = True
) -> None:
    """Send the four jobs, and follow them until every webhook has arrived. Raises Failure.

    `grows`: whether the cluster adds nodes for jobs and removes them again.
    """
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_send(screen, stack, api, examples))
            tasks.create_task(_follow(watch, stack, grows=grows))
    except* Failure as failures:
        raise failures.exceptions[0] from None


async def _send(screen: Screen, stack: Stack, api: Service, examples: Path) -> None:
    """Send the four jobs, each through its own door."""
    settings = Settings(stack.settings)
    for name in (await upload(settings, examples / "digits")).names:
        screen.say(Line("drop", f"uploaded {name}"))
    await enqueue(settings, (examples / "message.json").read_bytes())
    screen.say(Line("queue", "sent examples/message.json to the queue jobs, in base64"))
    accepted = await api.submit((examples / "request.json").read_bytes())
    screen.say(Line("http", f"POST examples/request.json: 202, {accepted['id']}"))
    for name in (await upload(settings, examples / "mistakes")).names:
        screen.say(Line("drop", f"uploaded {name}, which has three mistakes"))


async def _follow(watch: Watch, stack: Stack, *, grows: bool) -> None:
    """Watch until every job has ended, its webhooks have come and the nodes are gone. Raises Failure."""
    patience = Patience(_PATIENCE)
    while not (_all_ended(watch) and _delivered(stack) >= _JOBS and not (grows and watch.nodes)):
        if patience.is_over((watch.progress(), _delivered(stack))):
            raise Failure(_late(watch, stack))
        await watch.poll()
        await asyncio.sleep(_LOOK_EVERY)


def _all_ended(watch: Watch) -> bool:
    return len(watch.jobs) >= _JOBS and all(job["state"] in ENDED for job in watch.jobs.values())


def _delivered(stack: Stack) -> int:
    """How many deliveries the receiver has recorded."""
    return stack.deliveries.read_bytes().count(b"\n") if stack.deliveries.is_file() else 0


def _late(watch: Watch, stack: Stack) -> str:
    states = ", ".join(f"{job['name']} is {job['state']}" for job in watch.jobs.values()) or "no job came"
    events = sum(dropped(job) for job in watch.jobs.values())
    counts = f"{events} events of drops, {_delivered(stack)} webhooks, {watch.nodes} nodes"
    return f"no progress for {_PATIENCE:g} s: {states}; {counts}"


def _explain(screen: Screen, failure: Failure, data: Path) -> None:
    """Show the failure, the end of the log that most likely shows why, and the folder of all logs."""
    logs = [log for log in (data / "logs").glob("*.log") if log.stat().st_size]

    def telling(log: Path) -> tuple[bool, bool, float]:
        # Everything passes through the app's host; before it runs, the last log that grew is of what failed.
        return f"the {log.stem} " in str(failure), log.stem == "host", log.stat().st_mtime

    newest = sorted(logs, key=telling)
    if newest:
        screen.heading(f"the last lines of {display_path(newest[-1])}")
        for text in newest[-1].read_text(encoding="utf-8", errors="replace").splitlines()[-_SHOWN_LINES:]:
            screen.write(f"  {text}")
    screen.heading("the demo failed")
    screen.write(f"  {failure}")
    screen.write(f"  logs: {display_path(data / 'logs')}   (the stored data is in the same folder)")
