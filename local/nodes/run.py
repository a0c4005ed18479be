"""One run of a job: mount, prepare, launch, wait, clean up. A restarted emulator continues it."""

import asyncio
import logging
import shutil
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from confined.removal import remove
from local.nodes import tasks
from local.nodes.containers import Containers, Host, forget, left_over_site, runtime_for
from local.nodes.fault import Failed, Fault
from local.nodes.journal import Journal
from local.nodes.launcher import Launcher
from local.nodes.mounts import Mounter, Mounts
from local.nodes.output_directory import make_directory
from local.nodes.settings import NodeSettings
from local.nodes.ssh.guests import Guests
from local.nodes.ssh.script import Peer, write_ssh
from local.nodes.usage import sampled
from local.nodes.work import Outcome, Plan, Process, Work, outcome_of, stopped

_log = logging.getLogger(__name__)


class Run:
    """A run of a job on machines. `on_outputs` gets the real paths of the output directories."""

    def __init__(
        self,
        work: Work,
        settings: NodeSettings,
        mounter: Mounter,
        launcher: Launcher,
        clock: Callable[[], datetime],
        on_outputs: Callable[[dict[str, str]], Awaitable[None]],
    ) -> None:
        self._order = work
        self._settings = settings
        self._launcher = launcher
        self._on_outputs = on_outputs
        self._machines, self._mark = work.machines, work.mark
        self._node_directories = [
            machine.directories(settings.data, work.names) for machine in self._machines
        ]
        single = len(self._machines) == 1
        self._suffixes = ["" if single else f"-{machine.id}" for machine in self._machines]
        self._journals = [Journal(f"execution{suffix}.log", clock) for suffix in self._suffixes]
        self._tasks = settings.data / "tasks" / self._mark
        begun = (self._config / self._mark).exists()
        # The name of the folder is that of earlier versions, which may have begun jobs in it.
        self._runtimes, self._name = settings.data / "engines", f"slipway-{self._mark}"
        tellers = [journal.add for journal in self._journals]
        self._mounts = Mounts(mounter, self._name, self._node_directories, tellers)
        self._site = left_over_site(self._runtimes, self._name, self._node_directories) if begun else Host()
        self._stop, self._why = asyncio.Event(), ""
        self._fault: Fault | None = None
        self.guests = Guests(self._machines, self._node_directories)

    def stop(self, why: str, fault: Fault | None = None) -> None:
        """End the run early. `why` is for the log; `fault` for its reader, if it does not run again."""
        self._why, self._fault = why, fault
        self._stop.set()

    async def execute(self) -> Outcome:
        """Run to the end, or until stopped. Nothing of the run stays running or mounted."""
        work = asyncio.create_task(self._work(), name=f"work of {self._order.name}")
        stop = asyncio.create_task(self._stop.wait())
        await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if work.done():
            outcome = outcome_of(work)
        else:
            work.cancel()
            await asyncio.wait({work})
            outcome = stopped(self._fault, has_begun=self._tasks.exists())
            self._log_all(f"Stopped: {self._why}")
        with suppress(OSError):
            self._journals[0].add_beside("stderr.txt", outcome.reason)
        await self.guests.close()
        await self._site.close()
        await tasks.end_all(self._tasks, self._settings.grace)
        return await self._put_away(outcome)

    async def _work(self) -> Outcome:
        plan = await self._order.plan(self._node_directories)
        self._make_node_directories()
        # A job that cannot start has its outputs all the same, if it can: they hold the reason.
        fault = await self._mounts.hold(plan.shared_volumes, plan.volumes) or plan.fault
        try:
            directories = await self._make_outputs(plan)
        except OSError:
            if fault is None:
                raise
        if fault is not None:
            raise Failed(fault)
        directory = directories[plan.logs]
        await self._enter(plan)
        self._write_ssh()
        async with sampled(directories.get(plan.reports), self._machines):
            if outcome := await self._prepare(plan, directory):
                return outcome
            return await self._launch(plan, directory)

    def _make_node_directories(self) -> None:
        """Make the job's empty directories, one on each node and one for all; a continued run keeps them."""
        master = self._node_directories[0]
        for spot in self._node_directories:
            if (spot.job / "config" / self._mark).exists():
                continue
            if spot.jobs.is_symlink():
                spot.jobs.unlink()  # the previous job did that
            remove(spot.jobs)
            for directory in (spot.mounts, spot.job_mounts, spot.work, spot.job / "config"):
                directory.mkdir(parents=True, exist_ok=True)
            if spot is master:
                spot.shared.mkdir()
            else:
                spot.shared.symlink_to(master.shared)
            spot.hosts.write_text("".join(f"{machine.address}\n" for machine in self._machines))
            (spot.job / "config" / self._mark).touch()

    async def _make_outputs(self, plan: Plan) -> Mapping[str, Path]:
        """Create the output directories; returns those of the first node."""
        directories = []
        for outputs, spot, journal in zip(plan.outputs, self._node_directories, self._journals, strict=True):
            real = {
                name: make_directory(spot, output.prefix, output.rest, self._mounts.directories)
                for name, output in outputs.items()
            }
            journal.open(real[plan.logs])
            directories.append(real)
        mounted = (self._settings.shares, self._settings.blobs, self._settings.servers)
        roots = [root.resolve() for root in mounted]
        await self._on_outputs(
            {
                name: str(path) if any(map(path.is_relative_to, roots)) else ""
                for name, path in directories[0].items()
            }
        )
        return directories[0]

    @property
    def _config(self) -> Path:
        return self._node_directories[0].job / "config"

    def _write_ssh(self) -> None:
        """Give the nodes an ssh to each other; which one depends on where their processes run."""
        own = [spot.job / "config" for spot in self._node_directories]
        nodes = [
            Peer(machine.address, spot.root, machine.gpus)
            for machine, spot in zip(self._machines, self._node_directories, strict=True)
        ]
        for config in own:
            if not (config / "ssh").exists():
                write_ssh(config, nodes, own, isinstance(self._site, Containers))

    async def _enter(self, plan: Plan) -> None:
        """Let the job's processes run in containers, if it has an image and there is a runtime for it."""
        if (image := plan.image) is None:
            return
        settings = self._settings
        runtime = await runtime_for(settings.containers, self._runtimes, self._name, settings.grace)
        if runtime is None:
            why = "by its setting" if self._settings.containers == "host" else "no container runtime answers"
            self._log_all(f"The image {image.name} is not used: {why}, the job runs on the host")
            return
        self._log_all(f"Starting a container of the image {image.name} on each node, by {runtime.name}")
        self._site = containers = Containers(runtime, self._name, self._node_directories, plan.own)
        gpus = any(machine.gpus for machine in self._machines)
        await containers.open(image, self._mounts.directories, gpus)

    async def _prepare(self, plan: Plan, directory: Path) -> Outcome | None:
        if not plan.preparation:
            return None
        runs = []
        for index, (machine, suffix) in enumerate(zip(self._machines, self._suffixes, strict=True)):
            self._journals[index].add(f"Executing 'job environment preparation' on {machine.address}")
            process = Process(
                f"prep-{index}",
                index,
                ("bash", "-c", plan.preparation),
                f"stdout-job_prep{suffix}.txt",
                f"stderr-job_prep{suffix}.txt",
            )
            runs.append(self._run(process, plan.envs[index], directory))
        codes = await asyncio.gather(*runs)
        failed = next((code for code in codes if code), 0)
        if not failed:
            return None
        message = "Job preparation task failed with non-zero exit code"
        return Outcome(exit_code=failed, errors=(Fault(code="JobPreparationFailed", message=message),))

    async def _launch(self, plan: Plan, directory: Path) -> Outcome:
        """Start every process; the first that fails ends the others, which would wait for it for ever."""
        processes = plan.processes(await self._site.programs(plan.envs[0], plan.programs))
        for one in processes:
            self._journals[one.node].add(f"Starting {one.name} on {self._machines[one.node].address}")
        self.guests.open(plan.envs, processes, self._site)
        running = [asyncio.ensure_future(self._run(one, plan.envs[one.node], directory)) for one in processes]
        awaited = {task for task, process in zip(running, processes, strict=True) if not process.service}
        pending = set(running)
        try:
            while pending & awaited:
                finished, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                if code := next((code for task in finished if (code := task.result())), 0):
                    self._log_all(f"A process ended with exit code {code}")
                    message = "Job failed with non-zero exit code"
                    return Outcome(exit_code=code, errors=(Fault(code="JobFailed", message=message),))
        finally:
            for waiting in running:
                waiting.cancel()
            await asyncio.wait(running)
        self._log_all("All processes ended with exit code 0")
        return Outcome(exit_code=0)

    async def _run(self, process: Process, env: Mapping[str, str], directory: Path) -> int:
        command = self._site.command(process.node, process.argv, {**env, **process.env})
        return await tasks.run(
            tasks.Task(
                directory=self._tasks / process.name,
                argv=command.argv,
                env=command.env,
                text=command.text,
                cwd=self._node_directories[process.node].work,
                stdout=directory / process.stdout,
                stderr=directory / process.stderr,
                # A job that goes back to the queue runs again with the same directories.
                goes_on=True,
                grace=self._settings.grace,
            ),
            self._launcher,
        )

    async def _put_away(self, outcome: Outcome) -> Outcome:
        """Write back and unmount. Output that cannot be written back fails a job that had succeeded."""
        for fault in await self._mounts.release(tries=1 if outcome.requeue else 3):
            _log.warning("%s: %s", self._order.name, fault.message)
            if not outcome.errors and not outcome.requeue:
                outcome = Outcome(exit_code=outcome.exit_code or 1, errors=(fault,))
        shutil.rmtree(self._tasks, ignore_errors=True)
        forget(self._runtimes, self._name)
        return outcome

    def _log_all(self, text: str) -> None:
        for journal in self._journals:
            with suppress(OSError):
                journal.add(text)
