"""One run of a job: mount, prepare, launch, wait, put away. A restarted emulator goes on with it."""

import asyncio
import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from local.batchai import tasks
from local.batchai.containers import Containers, Host, engine_for, left
from local.batchai.faults import Failed
from local.batchai.journal import Journal
from local.batchai.launcher import Launcher
from local.batchai.layout import (
    STDOUTERR,
    job_environment,
    output_directories,
    place,
    segment,
)
from local.batchai.mounts import Mounter, MountError, link, unlink
from local.batchai.mpi import write_ssh
from local.batchai.plan import Process
from local.batchai.records import Cluster, Fault, Job, Node, Outcome
from local.batchai.settings import Settings
from local.batchai.sizes import gpus_of
from local.batchai.toolkits import processes
from local.batchai.vault import Vault
from local.batchai.volumes import Volume, volumes

_log = logging.getLogger(__name__)


class Run:
    """A run of a job on its nodes. `found` is told where the output directories really are."""

    def __init__(
        self,
        job: Job,
        cluster: Cluster,
        settings: Settings,
        mounter: Mounter,
        launcher: Launcher,
        clock: Callable[[], datetime],
        found: Callable[[dict[str, str]], None],
    ) -> None:
        self._job = job
        self._settings = settings
        self._mounter = mounter
        self._launcher = launcher
        self._found = found
        by_id = {node.id: node for node in cluster.nodes}
        self._nodes: list[Node] = [by_id[node] for node in job.nodes]
        self._places = [place(settings.data, node, job) for node in self._nodes]
        size, present = cluster.document["vmSize"], settings.gpus
        self._gpus = [gpus_of(node.number, size, present) for node in self._nodes]
        self._cluster_mounts = cluster.mounts
        self._own_volumes = volumes(job.document.get("mountVolumes", {}))
        self._held: list[Volume] = []
        #: The directories of the volumes, and whether all in them is ours.
        self._directories: dict[Path, bool] = {}
        single = len(self._nodes) == 1
        self._suffixes = ["" if single else f"-{node.id}" for node in self._nodes]
        self._journals = [Journal(f"execution{suffix}.log", clock) for suffix in self._suffixes]
        self._mark = f"{job.instance}-{job.attempt}"
        self._tasks = settings.data / "tasks" / self._mark
        begun = (self._config / self._mark).exists()
        self._site = left(self._config, f"slipway-{self._mark}", self._places) if begun else Host()
        self._stop = asyncio.Event()
        self._why = ""

    def stop(self, why: str) -> None:
        """End the run early; `why` goes into the log."""
        self._why = why
        self._stop.set()

    async def execute(self) -> Outcome:
        """Run to the end, or until stopped, with nothing of it left running or mounted."""
        work = asyncio.create_task(self._work(), name=f"work of {self._job.id}")
        stop = asyncio.create_task(self._stop.wait())
        await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if work.done():
            outcome = _outcome(work)
        else:
            work.cancel()
            await asyncio.wait({work})
            outcome = Outcome(requeue=True)
            self._log_all(f"Stopped: {self._why}")
        await self._site.close()
        await tasks.end_all(self._tasks)
        return await self._put_away(outcome)

    async def _work(self) -> Outcome:
        vault = Vault(self._settings.secrets_file)
        self._job = self._job.evolve(document=vault.resolved(self._job.document))
        self._own_volumes = volumes(self._job.document.get("mountVolumes", {}))
        self._make_places()
        await self._mount(volumes(vault.resolved(self._cluster_mounts)))
        envs = [
            job_environment(self._job, spot, self._nodes, self._settings.node_path, gpus)
            for spot, gpus in zip(self._places, self._gpus, strict=True)
        ]
        directory = self._make_outputs(envs)
        await self._enter()
        if fault := await self._prepare(envs, directory):
            return fault
        return await self._launch(envs, directory)

    def _make_places(self) -> None:
        """The job's directories on each node, empty, and one that all share; kept when a run goes on."""
        master = self._places[0]
        nodes = {
            node.address: (one.root, gpus)
            for node, one, gpus in zip(self._nodes, self._places, self._gpus, strict=True)
        }
        for spot in self._places:
            if (spot.job / "config" / self._mark).exists():
                continue
            shutil.rmtree(spot.jobs, ignore_errors=True)
            for directory in (spot.mounts, spot.job_mounts, spot.work, spot.job / "config"):
                directory.mkdir(parents=True, exist_ok=True)
            if spot is master:
                spot.shared.mkdir()
            else:
                spot.shared.symlink_to(master.shared)
            spot.hosts.write_text("".join(f"{node.address}\n" for node in self._nodes))
            write_ssh(spot.job / "config", nodes)
            (spot.job / "config" / self._mark).touch()

    async def _mount(self, of_cluster: Sequence[Volume]) -> None:
        for volume in of_cluster:
            await self._hold(volume)
        for volume in self._own_volumes:
            directory = await self._hold(volume)
            for spot, journal in zip(self._places, self._journals, strict=True):
                link(spot.job_mounts, volume, directory)
                journal.add(f"Mounted {volume.kind} {volume.label} at {spot.job_mounts / volume.at}")

    async def _hold(self, volume: Volume) -> Path:
        directory = await self._mounter.hold(volume)
        self._held.append(volume)
        self._directories[directory] = volume.kind != "unmanaged"
        return directory

    def _make_outputs(self, envs: Sequence[Mapping[str, str]]) -> Path:
        """Create the output directories; that of standard output and error."""
        for env, journal in zip(envs, self._journals, strict=True):
            found = output_directories(self._job.document, segment(self._job), env)
            for path in found.values():
                path.mkdir(parents=True, exist_ok=True)
            journal.open(found[STDOUTERR])
        found = output_directories(self._job.document, segment(self._job), envs[0])
        mounted = (self._settings.shares, self._settings.blobs, self._settings.servers)
        roots = [root.resolve() for root in mounted]
        real = {name: path.resolve() for name, path in found.items()}
        self._found(
            {name: str(path) if any(map(path.is_relative_to, roots)) else "" for name, path in real.items()}
        )
        return found[STDOUTERR]

    @property
    def _config(self) -> Path:
        return self._places[0].job / "config"

    async def _enter(self) -> None:
        """Let the job's processes run in containers, if it has an image and there is an engine for it."""
        document = self._job.document
        if not (settings := document.get("containerSettings")):
            return
        image = settings["imageSourceRegistry"]["image"]
        engine = await engine_for(self._settings.containers, self._config)
        if engine is None:
            why = "by its setting" if self._settings.containers == "host" else "no container engine answers"
            self._log_all(f"The image {image} is not used: {why}, the job runs on the host")
            return
        self._log_all(f"Starting a container of the image {image} on each node, by {engine.name}")
        defined = (*document.get("environmentVariables", ()), *document.get("secrets", ()))
        own = frozenset(variable["name"] for variable in defined)
        self._site = containers = Containers(engine, f"slipway-{self._mark}", self._places, own)
        await containers.open(settings, self._directories, any(self._gpus))

    async def _prepare(self, envs: Sequence[Mapping[str, str]], directory: Path) -> Outcome | None:
        preparation = self._job.document.get("jobPreparation")
        if not preparation:
            return None
        runs = []
        for index, (node, suffix) in enumerate(zip(self._nodes, self._suffixes, strict=True)):
            self._journals[index].add(f"Executing 'job environment preparation' on {node.address}")
            process = Process(
                f"prep-{index}",
                index,
                ("bash", "-c", preparation["commandLine"]),
                f"stdout-job_prep{suffix}.txt",
                f"stderr-job_prep{suffix}.txt",
            )
            runs.append(self._run(process, envs[index], directory))
        codes = await asyncio.gather(*runs)
        failed = next((code for code in codes if code), 0)
        if not failed:
            return None
        message = "Job preparation task failed with non-zero exit code"
        return Outcome(exit_code=failed, errors=(Fault(code="JobPreparationFailed", message=message),))

    async def _launch(self, envs: Sequence[Mapping[str, str]], directory: Path) -> Outcome:
        """Start every process; the first that fails ends the others, which would wait for it for ever."""
        found = processes(self._job.document, envs, await self._site.programs(envs[0]))
        for process in found:
            self._journals[process.node].add(
                f"Starting {process.name} on {self._nodes[process.node].address}"
            )
        running = [asyncio.ensure_future(self._run(one, envs[one.node], directory)) for one in found]
        awaited = {task for task, process in zip(running, found, strict=True) if not process.service}
        pending = set(running)
        try:
            while pending & awaited:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                if code := next((code for task in done if (code := task.result())), 0):
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
                cwd=self._places[process.node].work,
                stdout=directory / process.stdout,
                stderr=directory / process.stderr,
            ),
            self._launcher,
        )

    async def _put_away(self, outcome: Outcome) -> Outcome:
        """Write back and unmount. Output that cannot be written back fails a job that had succeeded."""
        for volume in self._held:
            try:
                await self._mounter.release(volume, tries=1 if outcome.requeue else 3)
            except MountError as error:
                _log.warning("%s: %s", self._job.id, error)
                if not outcome.errors and not outcome.requeue:
                    outcome = Outcome(exit_code=outcome.exit_code, errors=(error.fault,))
        for spot in self._places:
            with suppress(OSError):
                unlink(spot.job_mounts, self._own_volumes)
        shutil.rmtree(self._tasks, ignore_errors=True)
        return outcome

    def _log_all(self, text: str) -> None:
        for journal in self._journals:
            with suppress(OSError):
                journal.add(text)


def _outcome(work: "asyncio.Task[Outcome]") -> Outcome:
    try:
        return work.result()
    except Failed as error:
        return Outcome(errors=(error.fault,))
    except tasks.TaskLost:
        return Outcome(requeue=True)
    except OSError as error:
        what = f"{error.strerror}: {error.filename}"
        return Outcome(errors=(Fault(code="JobEnvironmentFailed", message=what),))
    except Exception:  # noqa: BLE001 the entry point of a run: a defect must not hold its nodes for ever
        _log.exception("a defect of the emulator in a run")
        fault = Fault(code="InternalError", message="The emulator has a defect; see its log")
        return Outcome(errors=(fault,))
